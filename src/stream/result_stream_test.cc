#include "stream/result_stream.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "stream/scripted_source.h"

namespace kinjo::stream {
namespace {

using base::CancelToken;
using base::CodeOf;
using base::ErrorCode;
using testing::HasSubstr;

Batch BatchOf(int64_t n) { return Numbers(n, n + 1); }

int64_t ValueOf(const arrow::RecordBatch& batch) {
  return static_cast<const arrow::Int64Array&>(*batch.column(0)).Value(0);
}

// Emits 0, 1, ... count - 1, then returns `end`.
ResultStream::Producer Counting(int64_t count, arrow::Status end = arrow::Status::OK()) {
  return [=](const CancelToken& cancel, const ResultStream::Emit& emit) {
    for (int64_t n = 0; n < count; ++n) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      ARROW_RETURN_NOT_OK(emit(BatchOf(n)));
    }
    return end;
  };
}

// Waits until `flag` holds; the test's own time limit is the only clock.
template <typename Flag>
void Await(const Flag& flag) {
  while (!flag()) std::this_thread::yield();
}

TEST(ResultStream, GivesAllBatchesInOrderThenNull) {
  auto stream = ResultStream::Start(OneInt(), Counting(100));
  EXPECT_EQ(stream->schema(), OneInt());
  for (int64_t n = 0; n < 100; ++n) {
    auto batch = stream->Next().ValueOrDie();
    ASSERT_NE(batch, nullptr);
    EXPECT_EQ(ValueOf(*batch), n);
  }
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
  EXPECT_TRUE(stream->Close().ok());
}

TEST(ResultStream, EmptyResultEndsAtOnce) {
  auto stream = ResultStream::Start(OneInt(), Counting(0));
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
}

TEST(ResultStream, RunsOneBatchAheadAndNoMore) {
  std::atomic<int64_t> made{0};
  auto stream = ResultStream::Start(
      OneInt(), [&](const CancelToken&, const ResultStream::Emit& emit) -> arrow::Status {
        for (int64_t n = 0; n < 50; ++n) {
          made.store(n + 1);
          ARROW_RETURN_NOT_OK(emit(BatchOf(n)));
        }
        return arrow::Status::OK();
      });
  for (int64_t taken = 0; taken < 50; ++taken) {
    // Ahead by one: the batch after the reader's is made although nobody asked for it ...
    Await([&] { return made.load() == taken + 1; });
    // ... and the one after that isn't, however long the reader thinks.
    for (int i = 0; i < 200; ++i) {
      std::this_thread::yield();
      ASSERT_EQ(made.load(), taken + 1);
    }
    ASSERT_NE(stream->Next().ValueOrDie(), nullptr);
  }
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
}

TEST(ResultStream, KeepsNoBatchThatWasTaken) {
  auto stream = ResultStream::Start(OneInt(), Counting(3));
  std::weak_ptr<arrow::RecordBatch> first = stream->Next().ValueOrDie();
  EXPECT_NE(stream->Next().ValueOrDie(), nullptr);
  EXPECT_TRUE(first.expired());
}

TEST(ResultStream, ErrorComesOnceAfterEarlierBatches) {
  auto stream = ResultStream::Start(OneInt(), Counting(2, base::Io("disk on fire")));
  EXPECT_EQ(ValueOf(*stream->Next().ValueOrDie()), 0);
  EXPECT_EQ(ValueOf(*stream->Next().ValueOrDie()), 1);
  for (const ErrorCode code : {ErrorCode::kIo, ErrorCode::kState, ErrorCode::kState}) {
    arrow::Status status = stream->Next().status();
    EXPECT_EQ(CodeOf(status), code);
    EXPECT_THAT(status.message(), HasSubstr("disk on fire"));
  }
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kState);
}

TEST(ResultStream, ExceptionsBecomeErrors) {
  auto throws = [](auto error) {
    return ResultStream::Start(
        OneInt(), [=](const CancelToken&, const ResultStream::Emit& emit) -> arrow::Status {
          ARROW_RETURN_NOT_OK(emit(BatchOf(0)));
          throw error;
        });
  };
  auto out_of_memory = throws(std::bad_alloc());
  ASSERT_TRUE(out_of_memory->Next().ok());
  EXPECT_EQ(CodeOf(out_of_memory->Next().status()), ErrorCode::kCapacity);

  auto standard = throws(std::runtime_error("odd"));
  ASSERT_TRUE(standard->Next().ok());
  arrow::Status status = standard->Next().status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("odd"));

  auto foreign = throws(7);
  ASSERT_TRUE(foreign->Next().ok());
  EXPECT_EQ(CodeOf(foreign->Next().status()), ErrorCode::kInternal);
}

TEST(ResultStream, RefusesNullAndForeignBatches) {
  auto emits = [](std::shared_ptr<arrow::RecordBatch> batch) {
    return ResultStream::Start(
        OneInt(), [=](const CancelToken&, const ResultStream::Emit& emit) { return emit(batch); });
  };
  EXPECT_EQ(CodeOf(emits(nullptr)->Next().status()), ErrorCode::kInternal);
  auto other = arrow::RecordBatch::Make(arrow::schema({arrow::field("m", arrow::int64())}), 1,
                                        BatchOf(1)->columns());
  EXPECT_EQ(CodeOf(emits(other)->Next().status()), ErrorCode::kInternal);
}

TEST(ResultStream, ReadsFailWithStateAfterCancelAndClose) {
  auto stream = ResultStream::Start(OneInt(), Counting(10));
  ASSERT_TRUE(stream->Next().ok());
  stream->Cancel();
  stream->Cancel();
  arrow::Status status = stream->Next().status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kState);
  EXPECT_THAT(status.message(), HasSubstr("cancelled"));
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_TRUE(stream->Close().ok());
  stream->Cancel();
  status = stream->Next().status();
  EXPECT_EQ(CodeOf(status), ErrorCode::kState);
  EXPECT_THAT(status.message(), HasSubstr("closed"));
}

TEST(ResultStream, ReadAfterCloseFailsEvenWhenTheEndWasReached) {
  auto stream = ResultStream::Start(OneInt(), Counting(0));
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kState);
}

TEST(ResultStream, CancelFreesAReaderThatWaitsWhileTheProducerIsStillBusy) {
  std::atomic<bool> busy{false};
  std::atomic<bool> let_go{false};
  auto stream =
      ResultStream::Start(OneInt(), [&](const CancelToken&, const ResultStream::Emit& emit) {
        busy = true;
        Await([&] { return let_go.load(); });
        return emit(BatchOf(0));
      });
  std::thread canceller([&] {
    Await([&] { return busy.load(); });
    stream->Cancel();
  });
  // The producer can't end before let_go: this returns only if Cancel wakes the reader.
  EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kState);
  canceller.join();
  let_go = true;
  EXPECT_TRUE(stream->Close().ok());
}

TEST(ResultStream, CloseFreesAProducerBlockedInEmit) {
  arrow::Status emitted;
  std::atomic<bool> emitting{false};
  auto stream =
      ResultStream::Start(OneInt(), [&](const CancelToken& cancel, const ResultStream::Emit& emit) {
        emitting = true;
        emitted = emit(BatchOf(0));
        EXPECT_TRUE(cancel.cancelled());
        return emitted;
      });
  Await([&] { return emitting.load(); });
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_EQ(CodeOf(emitted), ErrorCode::kCancelled);  // Close waited: no race on `emitted`
}

TEST(ResultStream, DestructorClosesAndWaits) {
  auto alive = std::make_shared<int>(1);
  std::weak_ptr<int> watch = alive;
  std::atomic<bool> ended{false};
  {
    auto stream = ResultStream::Start(
        OneInt(), [&ended, alive](const CancelToken& cancel, const ResultStream::Emit&) {
          Await([&] { return cancel.cancelled(); });
          ended = true;
          return cancel.Check();
        });
    alive.reset();
  }
  EXPECT_TRUE(ended.load());
  EXPECT_TRUE(watch.expired());
}

TEST(ResultStream, ProducerIsFreedBeforeTheEndIsSeen) {
  auto alive = std::make_shared<int>(1);
  std::weak_ptr<int> watch = alive;
  auto stream = ResultStream::Start(
      OneInt(),
      [alive](const CancelToken&, const ResultStream::Emit&) { return arrow::Status::OK(); });
  alive.reset();
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
  EXPECT_TRUE(watch.expired());
}

TEST(ResultStream, TokenFromOutsideStopsTheRowsForGood) {
  CancelToken token;
  auto stream = ResultStream::Start(
      OneInt(),
      [](const CancelToken&, const ResultStream::Emit& emit) {
        // A careless producer: takes a failed Emit for the end.
        for (int64_t n = 0; n < 10; ++n) {
          if (!emit(BatchOf(n)).ok()) break;
        }
        return arrow::Status::OK();
      },
      token);
  ASSERT_TRUE(stream->Next().ok());
  token.Cancel();
  EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kCancelled);
  EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kState);
  EXPECT_TRUE(stream->Close().ok());
}

TEST(ResultStream, FinishedStreamLeavesTheTokenAlone) {
  CancelToken token;
  auto stream = ResultStream::Start(OneInt(), Counting(1), token);
  ASSERT_NE(stream->Next().ValueOrDie(), nullptr);
  ASSERT_EQ(stream->Next().ValueOrDie(), nullptr);
  EXPECT_TRUE(stream->Close().ok());
  EXPECT_FALSE(token.cancelled());
}

TEST(ResultStream, ProducerCannotCloseItsOwnStream) {
  std::atomic<ResultStream*> self{nullptr};
  ErrorCode code = ErrorCode::kInternal;
  auto stream = ResultStream::Start(OneInt(), [&](const CancelToken&, const ResultStream::Emit&) {
    Await([&] { return self.load() != nullptr; });
    code = CodeOf(self.load()->Close());
    return arrow::Status::OK();
  });
  self = stream.get();
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
  EXPECT_EQ(code, ErrorCode::kState);
}

TEST(ResultStream, FinishWorksOnWithoutReadsAndLosesNothing) {
  std::atomic<int64_t> made{0};
  auto stream = ResultStream::Start(
      OneInt(), [&](const CancelToken&, const ResultStream::Emit& emit) -> arrow::Status {
        for (int64_t n = 0; n < 50; ++n) {
          made.store(n + 1);
          ARROW_RETURN_NOT_OK(emit(BatchOf(n)));
        }
        return arrow::Status::OK();
      });
  EXPECT_EQ(ValueOf(*stream->Next().ValueOrDie()), 0);
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_EQ(made.load(), 50);
  EXPECT_TRUE(stream->Finish().ok());
  for (int64_t n = 1; n < 50; ++n) EXPECT_EQ(ValueOf(*stream->Next().ValueOrDie()), n);
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
}

TEST(ResultStream, CompleteStreamDoesAllWorkBeforeARead) {
  auto stream = ResultStream::Start(OneInt(), Counting(20, base::Io("late")), CancelToken(),
                                    ResultStream::Kind::kComplete);
  EXPECT_EQ(CodeOf(stream->Finish()), ErrorCode::kIo);
  for (int64_t n = 0; n < 20; ++n) {
    EXPECT_TRUE(stream->HasMore().ValueOrDie());
    EXPECT_EQ(ValueOf(*stream->Next().ValueOrDie()), n);
  }
  EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kIo);
}

TEST(ResultStream, ReadsFromTheFileGoOnAfterAPause) {
  auto stream =
      ResultStream::Start(OneInt(), Counting(4), CancelToken(), ResultStream::Kind::kComplete);
  EXPECT_TRUE(stream->Finish().ok());
  for (int64_t n = 0; n < 4; ++n) {
    EXPECT_EQ(ValueOf(*stream->Next().ValueOrDie()), n);
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // the thread that reads it is gone
  }
  EXPECT_EQ(stream->Next().ValueOrDie(), nullptr);
}

TEST(ResultStream, ChunksOfProducedRows) {
  for (const auto kind : {ResultStream::Kind::kPending, ResultStream::Kind::kComplete}) {
    auto stream = ResultStream::Start(OneInt(), Counting(10), CancelToken(), kind);
    EXPECT_THAT(NumbersOf(*stream->Next(4).ValueOrDie()), testing::ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(NumbersOf(*stream->Next(4).ValueOrDie()), testing::ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(NumbersOf(*stream->Next(4).ValueOrDie()), testing::ElementsAre(8, 9));
    EXPECT_EQ(stream->Next(4).ValueOrDie(), nullptr);
  }
}

TEST(ResultStream, CloseThatDoesNotWaitSettlesWhileTheProducerIsBusy) {
  std::atomic<bool> busy{false};
  std::atomic<bool> let_go{false};
  auto stream = ResultStream::Start(OneInt(), [&](const CancelToken&, const ResultStream::Emit&) {
    busy = true;
    Await([&] { return let_go.load(); });
    return arrow::Status::OK();
  });
  Await([&] { return busy.load(); });
  bool closed = false;
  stream->Close([&](const arrow::Status& status) { closed = status.ok(); });
  EXPECT_TRUE(closed);
  EXPECT_EQ(CodeOf(stream->HasMore().status()), ErrorCode::kState);
  let_go = true;
}

// Many threads cancel and close while one reads: every read gives the next batch in order or the
// state error, and after the first state error nothing else.
TEST(ResultStream, RacesOfReadCancelAndClose) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    const int64_t count = random() % 6;
    const int64_t reads_before_race = random() % 4;
    const bool fails = random() % 3 == 0;
    auto stream = ResultStream::Start(
        OneInt(), Counting(count, fails ? base::Io("late") : arrow::Status::OK()));
    std::atomic<bool> go{false};
    std::vector<std::thread> others;
    for (int i = 0; i < 4; ++i) {
      others.emplace_back([&, closes = random() % 3 == 0] {
        Await([&] { return go.load(); });
        stream->Cancel();
        if (closes) {
          EXPECT_TRUE(stream->Close().ok());
        }
      });
    }
    bool blocked = false;
    for (int64_t n = 0; n < count + 4; ++n) {
      if (n == reads_before_race) go = true;
      auto next = stream->Next();
      if (!next.ok() && CodeOf(next.status()) == ErrorCode::kState) {
        EXPECT_TRUE(go.load());
        blocked = true;
        continue;
      }
      ASSERT_FALSE(blocked) << "a read succeeded after the stream was blocked";
      if (n < count) {
        ASSERT_TRUE(next.ok()) << next.status();
        EXPECT_EQ(ValueOf(**next), n);
      } else if (fails) {
        EXPECT_EQ(CodeOf(next.status()), ErrorCode::kIo);
        break;  // what comes after an error is `state` in any case
      } else {
        EXPECT_EQ(next.ValueOrDie(), nullptr);
      }
    }
    go = true;  // where an error ended the reads before their race
    for (std::thread& other : others) other.join();
    EXPECT_TRUE(stream->Close().ok());
    EXPECT_EQ(CodeOf(stream->Next().status()), ErrorCode::kState);
  }
}

}  // namespace
}  // namespace kinjo::stream
