// Every function of a stream, as a C program sees it: over a source of the program's own that
// answers when the test says, waiting and not.
#include <cerrno>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "arrow/c/bridge.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kinjo/kinjo.h"

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<arrow::Schema> OneInt() {
  return arrow::schema({arrow::field("n", arrow::int64())});
}

struct Error {
  kinjo_error_code code = static_cast<kinjo_error_code>(0);  // no error
  std::string message;

  static Error Take(kinjo_error* error) {
    if (error == nullptr) return {};
    const std::unique_ptr<kinjo_error, decltype(&kinjo_error_free)> owned(error, kinjo_error_free);
    return {kinjo_error_get_code(error), kinjo_error_get_message(error)};
  }
};

std::vector<int64_t> NumbersOf(ArrowArray* batch) {
  if (batch->release == nullptr) return {};
  const auto imported = arrow::ImportRecordBatch(batch, OneInt()).ValueOrDie();
  const auto& column = static_cast<const arrow::Int64Array&>(*imported->column(0));
  return {column.raw_values(), column.raw_values() + column.length()};
}

// What the stream asked and waits for; or an answer for each request as it comes.
struct Script {
  std::deque<kinjo_request*> fetches, cancels, closes;
  std::function<void(kinjo_request*)> at_fetch, at_close;
  int released = 0;
  int num_fetches = 0;

  static Script* Of(void* context) { return static_cast<Script*>(context); }

  kinjo_source Source() {
    kinjo_source source{};
    source.struct_size = sizeof(source);
    source.context = this;
    source.fetch = [](void* context, kinjo_request* request) {
      ++Of(context)->num_fetches;
      if (Of(context)->at_fetch) return Of(context)->at_fetch(request);
      Of(context)->fetches.push_back(request);
    };
    source.cancel = [](void* context, kinjo_request* request) {
      Of(context)->cancels.push_back(request);
    };
    source.close = [](void* context, kinjo_request* request) {
      if (Of(context)->at_close) return Of(context)->at_close(request);
      Of(context)->closes.push_back(request);
    };
    source.release = [](void* context) { ++Of(context)->released; };
    return source;
  }
};

kinjo_request* First(std::deque<kinjo_request*>* waiting) {
  kinjo_request* request = waiting->at(0);
  waiting->pop_front();
  return request;
}

void Answer(kinjo_request* request, int64_t begin, int64_t end) {
  arrow::Int64Builder builder;
  for (int64_t n = begin; n < end; ++n) ASSERT_TRUE(builder.Append(n).ok());
  const auto batch =
      arrow::RecordBatch::Make(OneInt(), end - begin, {builder.Finish().ValueOrDie()});
  ArrowArray exported;
  ASSERT_TRUE(arrow::ExportRecordBatch(*batch, &exported).ok());
  kinjo_request_answer(request, &exported);
  EXPECT_EQ(exported.release, nullptr);
}

// Gives the batches [0, 3), [3, 6), ... up to `batches`, then the end or an error; closes well.
void AnswerAll(Script* script, int batches, kinjo_error_code failure = {}) {
  script->at_fetch = [script, batches, failure](kinjo_request* request) {
    const int batch = script->num_fetches - 1;
    if (batch < batches) return Answer(request, batch * 3, batch * 3 + 3);
    if (failure != 0) return kinjo_request_fail(request, failure, "the disk is on fire");
    kinjo_request_answer(request, nullptr);
  };
  script->at_close = [](kinjo_request* request) { kinjo_request_answer(request, nullptr); };
}

class Streams : public testing::TestWithParam<bool> {
 protected:
  void Make() {
    const kinjo_source source = script.Source();
    ArrowSchema schema;
    ASSERT_TRUE(arrow::ExportSchema(*OneInt(), &schema).ok());
    ASSERT_TRUE(kinjo_stream_make(&source, &schema, GetParam(), &stream, nullptr));
    EXPECT_EQ(schema.release, nullptr);
  }
  void TearDown() override {
    // What a test left unanswered: its answers come too late for anybody.
    script.at_close = [](kinjo_request* request) { kinjo_request_answer(request, nullptr); };
    kinjo_stream_free(stream);
    for (auto* waiting : {&script.fetches, &script.cancels, &script.closes}) {
      for (kinjo_request* request : *waiting) kinjo_request_answer(request, nullptr);
    }
  }

  // A read that waits for its answer, like those below: `max_rows` 0 for a whole batch.
  std::vector<int64_t> Next(int64_t max_rows = 0) {
    ArrowArray batch{};
    kinjo_error* error = nullptr;
    const bool ok = max_rows == 0 ? kinjo_stream_next(stream, &batch, &error)
                                  : kinjo_stream_next_rows(stream, max_rows, &batch, &error);
    last = Error::Take(error);
    EXPECT_EQ(ok, last.code == 0);
    return ok ? NumbersOf(&batch) : std::vector<int64_t>();
  }
  bool HasMore() {
    bool more = false;
    kinjo_error* error = nullptr;
    kinjo_stream_has_more(stream, &more, &error);
    last = Error::Take(error);
    return more;
  }
  kinjo_error_code Close() {
    kinjo_error* error = nullptr;
    kinjo_stream_close(stream, &error);
    last = Error::Take(error);
    return last.code;
  }

  Script script;
  kinjo_stream* stream = nullptr;
  Error last;
};

INSTANTIATE_TEST_SUITE_P(Kinds, Streams, testing::Bool(), [](const auto& complete) {
  return complete.param ? "complete" : "pending";
});

// The answer of a call that doesn't wait.
struct Answered {
  int times = 0;
  bool yes = false;
  std::vector<int64_t> numbers;
  bool end = false;
  Error error;
};

void OnBatch(void* context, ArrowArray* batch, kinjo_error* error) {
  auto* answered = static_cast<Answered*>(context);
  ++answered->times;
  answered->end = error == nullptr && batch->release == nullptr;
  answered->numbers = NumbersOf(batch);
  answered->error = Error::Take(error);
}

void OnYesNo(void* context, bool answer, kinjo_error* error) {
  auto* answered = static_cast<Answered*>(context);
  ++answered->times;
  answered->yes = answer;
  answered->error = Error::Take(error);
}

void OnDone(void* context, kinjo_error* error) {
  auto* answered = static_cast<Answered*>(context);
  ++answered->times;
  answered->error = Error::Take(error);
}

TEST_P(Streams, TellTheirKindAndSchema) {
  Make();
  EXPECT_EQ(kinjo_stream_is_complete(stream), GetParam());
  EXPECT_FALSE(kinjo_stream_is_complete(nullptr));
  ArrowSchema schema;
  ASSERT_TRUE(kinjo_stream_get_schema(stream, &schema, nullptr));
  EXPECT_TRUE(arrow::ImportSchema(&schema).ValueOrDie()->Equals(*OneInt()));
  EXPECT_EQ(script.num_fetches, GetParam() ? 0 : 1);
}

TEST_P(Streams, GiveBatchesChunksAndTheEnd) {
  AnswerAll(&script, 4);
  Make();
  EXPECT_TRUE(HasMore());
  EXPECT_THAT(Next(), ElementsAre(0, 1, 2));
  EXPECT_THAT(Next(4), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(Next(), ElementsAre(7, 8));
  EXPECT_THAT(Next(100), ElementsAre(9, 10, 11));
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Next(), IsEmpty());
    EXPECT_EQ(last.code, 0);
    EXPECT_FALSE(HasMore());
    EXPECT_EQ(last.code, 0);
  }
  Next(-3);
  EXPECT_EQ(last.code, KINJO_ERROR_INVALID);
  EXPECT_THAT(last.message, HasSubstr("-3"));
}

TEST_P(Streams, GiveAnErrorOnce) {
  AnswerAll(&script, 1, KINJO_ERROR_IO);
  Make();
  EXPECT_THAT(Next(), ElementsAre(0, 1, 2));
  EXPECT_TRUE(HasMore());
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_IO);
  EXPECT_EQ(last.message, "the disk is on fire");
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
  EXPECT_FALSE(HasMore());
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
}

TEST_P(Streams, TellTheErrorOfTheCleanUpAsItsCause) {
  AnswerAll(&script, 0, KINJO_ERROR_CORRUPT);
  script.at_close = [](kinjo_request* request) {
    kinjo_request_fail(request, KINJO_ERROR_IO, "no way to close");
  };
  Make();
  ArrowArray batch{};
  kinjo_error* error = nullptr;
  ASSERT_FALSE(kinjo_stream_next(stream, &batch, &error));
  EXPECT_EQ(kinjo_error_get_code(error), KINJO_ERROR_CORRUPT);
  const kinjo_error* cause = kinjo_error_get_cause(error);
  ASSERT_NE(cause, nullptr);
  EXPECT_EQ(kinjo_error_get_code(cause), KINJO_ERROR_IO);
  EXPECT_STREQ(kinjo_error_get_message(cause), "no way to close");
  EXPECT_EQ(kinjo_error_get_cause(cause), nullptr);
  kinjo_error_free(error);
}

TEST_P(Streams, ThatFailToCloseStayReadable) {
  AnswerAll(&script, 2);
  script.at_close = [](kinjo_request* request) {
    kinjo_request_fail(request, KINJO_ERROR_IO, "not now");
  };
  Make();
  EXPECT_THAT(Next(), ElementsAre(0, 1, 2));
  EXPECT_EQ(Close(), KINJO_ERROR_IO);
  EXPECT_TRUE(HasMore());
  EXPECT_THAT(Next(), ElementsAre(3, 4, 5));
  script.at_close = [](kinjo_request* request) { kinjo_request_answer(request, nullptr); };
  EXPECT_EQ(Close(), 0);
  EXPECT_EQ(Close(), 0);
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
  EXPECT_FALSE(HasMore());
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
}

TEST_P(Streams, ThatAreCancelledGiveNothing) {
  AnswerAll(&script, 2);
  Make();
  kinjo_stream_cancel(stream);
  kinjo_stream_cancel(nullptr);
  ASSERT_EQ(script.cancels.size(), 1U);
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
  HasMore();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
  kinjo_error* error = nullptr;
  EXPECT_FALSE(kinjo_stream_finish(stream, &error));
  EXPECT_EQ(Error::Take(error).code, KINJO_ERROR_STATE);
}

TEST_P(Streams, AnswerWithoutWaiting) {
  Make();
  Answered more, first, chunk, finished, closed;
  kinjo_stream_has_more_async(stream, OnYesNo, &more);
  kinjo_stream_fetch_async(stream, KINJO_UNSET, OnBatch, &first);
  kinjo_stream_fetch_async(stream, 2, OnBatch, &chunk);
  EXPECT_EQ(more.times + first.times + chunk.times, 0);
  EXPECT_EQ(script.num_fetches, 1);
  Answer(First(&script.fetches), 0, 3);
  EXPECT_TRUE(more.yes);
  EXPECT_THAT(first.numbers, ElementsAre(0, 1, 2));
  EXPECT_EQ(chunk.times, 0);
  Answer(First(&script.fetches), 3, 6);
  EXPECT_THAT(chunk.numbers, ElementsAre(3, 4));
  kinjo_stream_finish_async(stream, OnDone, &finished);
  EXPECT_EQ(finished.times, 1);  // a source of one's own has nothing to finish
  EXPECT_EQ(finished.error.code, 0);
  kinjo_stream_close_async(stream, OnDone, &closed);
  EXPECT_EQ(closed.times, 0);
  kinjo_request_answer(First(&script.closes), nullptr);
  EXPECT_EQ(closed.times, 1);
  for (const Answered* one : {&more, &first, &chunk}) {
    EXPECT_EQ(one->times, 1);
    EXPECT_EQ(one->error.code, 0);
  }
  Answered late;
  kinjo_stream_fetch_async(stream, KINJO_UNSET, OnBatch, &late);
  EXPECT_EQ(late.error.code, KINJO_ERROR_STATE);
  EXPECT_FALSE(late.end);
}

TEST_P(Streams, SettleCloseAndCancelWhileAFetchHangs) {
  Make();
  Answered read, closed, again, cancelled;
  kinjo_stream_fetch_async(stream, KINJO_UNSET, OnBatch, &read);
  kinjo_stream_close_async(stream, OnDone, &closed);
  kinjo_stream_close_async(stream, OnDone, &again);
  ASSERT_EQ(script.closes.size(), 1U);
  kinjo_stream_cancel_async(stream, OnDone, &cancelled);
  EXPECT_EQ(read.error.code, KINJO_ERROR_STATE);
  kinjo_request_fail(First(&script.closes), KINJO_ERROR_IO, "not now");
  kinjo_request_answer(First(&script.cancels), nullptr);
  EXPECT_EQ(closed.error.code, KINJO_ERROR_IO);
  EXPECT_EQ(again.error.code, KINJO_ERROR_IO);
  EXPECT_EQ(cancelled.times, 1);
  EXPECT_EQ(cancelled.error.code, 0);
  Answer(First(&script.fetches), 0, 3);  // heard by nobody
  EXPECT_EQ(read.times, 1);
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
}

TEST_P(Streams, MayBeAskedWithoutACallback) {
  AnswerAll(&script, 2);
  Make();
  kinjo_stream_fetch_async(stream, KINJO_UNSET, nullptr, nullptr);  // takes the first batch
  kinjo_stream_has_more_async(stream, nullptr, nullptr);
  kinjo_stream_finish_async(stream, nullptr, nullptr);
  EXPECT_THAT(Next(), ElementsAre(3, 4, 5));
  kinjo_stream_close_async(stream, nullptr, nullptr);
  kinjo_stream_fetch_async(stream, KINJO_UNSET, nullptr, nullptr);
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
}

TEST_P(Streams, AreHandedOverAsArrowStreams) {
  AnswerAll(&script, 2);
  Make();
  EXPECT_THAT(Next(2), ElementsAre(0, 1));
  ArrowArrayStream exported;
  ASSERT_TRUE(kinjo_stream_export(stream, &exported, nullptr));
  Next();
  EXPECT_EQ(last.code, KINJO_ERROR_STATE);
  EXPECT_THAT(last.message, HasSubstr("exported"));
  Answered done;
  kinjo_stream_close_async(stream, OnDone, &done);
  EXPECT_EQ(done.error.code, KINJO_ERROR_STATE);
  const auto reader = arrow::ImportRecordBatchReader(&exported).ValueOrDie();
  EXPECT_EQ(reader->ToTable().ValueOrDie()->num_rows(), 4);
}

TEST_P(Streams, HandedOverGiveTheErrnoOfAnError) {
  for (const auto& [code, number] :
       std::vector<std::pair<kinjo_error_code, int>>{{KINJO_ERROR_INVALID, EINVAL},
                                                     {KINJO_ERROR_CAPACITY, ENOMEM},
                                                     {KINJO_ERROR_CANCELLED, ECANCELED},
                                                     {KINJO_ERROR_STATE, ECANCELED},
                                                     {KINJO_ERROR_NOT_SUPPORTED, ENOSYS},
                                                     {KINJO_ERROR_IO, EIO},
                                                     {KINJO_ERROR_INTERNAL, EIO}}) {
    EXPECT_EQ(kinjo_error_code_errno(code), number) << code;
  }
  AnswerAll(&script, 1, KINJO_ERROR_NOT_SUPPORTED);
  Make();
  ArrowArrayStream exported;
  ASSERT_TRUE(kinjo_stream_export(stream, &exported, nullptr));
  ArrowArray batch{};
  ASSERT_EQ(exported.get_next(&exported, &batch), 0);
  EXPECT_THAT(NumbersOf(&batch), ElementsAre(0, 1, 2));
  EXPECT_EQ(exported.get_next(&exported, &batch), ENOSYS);
  EXPECT_STREQ(exported.get_last_error(&exported), "the disk is on fire");
  EXPECT_EQ(exported.get_next(&exported, &batch), ECANCELED);
  exported.release(&exported);
}

TEST_P(Streams, ReleaseTheirSourceOnce) {
  AnswerAll(&script, 2);
  Make();
  Next();
  kinjo_stream_free(std::exchange(stream, nullptr));
  EXPECT_EQ(script.released, 1);
}

TEST_P(Streams, OfASourceThatCannotBeReleaseItToo) {
  kinjo_source source = script.Source();
  source.close = nullptr;
  ArrowSchema schema;
  ASSERT_TRUE(arrow::ExportSchema(*OneInt(), &schema).ok());
  kinjo_error* error = nullptr;
  ASSERT_FALSE(kinjo_stream_make(&source, &schema, GetParam(), &stream, &error));
  EXPECT_EQ(Error::Take(error).code, KINJO_ERROR_INVALID);
  EXPECT_EQ(script.released, 1);
  source = script.Source();
  error = nullptr;
  ASSERT_FALSE(kinjo_stream_make(&source, nullptr, GetParam(), &stream, &error));
  EXPECT_THAT(Error::Take(error).message, HasSubstr("schema"));
  EXPECT_EQ(script.released, 2);
}

TEST_P(Streams, RefuseABatchOfOtherColumns) {
  Make();
  Answered read;
  kinjo_stream_fetch_async(stream, KINJO_UNSET, OnBatch, &read);
  ArrowArray none{};
  const auto empty = arrow::RecordBatch::Make(arrow::schema({}), 3, arrow::ArrayVector());
  ASSERT_TRUE(arrow::ExportRecordBatch(*empty, &none).ok());
  kinjo_request_answer(First(&script.fetches), &none);
  kinjo_request_answer(First(&script.closes), nullptr);
  EXPECT_NE(read.error.code, 0);
  kinjo_request_answer(nullptr, nullptr);
  kinjo_request_fail(nullptr, KINJO_ERROR_IO, "nobody asked");
}

TEST(StreamArguments, NullIsNamed) {
  kinjo_error* error = nullptr;
  ArrowArray batch{};
  EXPECT_FALSE(kinjo_stream_next(nullptr, &batch, &error));
  EXPECT_EQ(Error::Take(error).message, "the argument stream is NULL");
  Answered read, more, done;
  kinjo_stream_fetch_async(nullptr, KINJO_UNSET, OnBatch, &read);
  kinjo_stream_has_more_async(nullptr, OnYesNo, &more);
  kinjo_stream_finish_async(nullptr, OnDone, &done);
  for (const Answered* one : {&read, &more, &done}) {
    EXPECT_EQ(one->times, 1);
    EXPECT_EQ(one->error.message, "the argument stream is NULL");
  }
}

}  // namespace
