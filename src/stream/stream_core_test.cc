// Each promise of a result stream, over a source that answers when the test says.
#include <map>

#include "base/error_cause.h"
#include "gmock/gmock.h"
#include "stream/scripted_source.h"

namespace kinjo::stream {
namespace {

using base::CodeOf;
using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = ResultStream::Kind;

// What an operation answered, if it did.
template <typename T>
struct Answered {
  std::optional<T> value;
  std::function<void(T)> taker() {
    return [this](T got) {
      EXPECT_FALSE(value.has_value()) << "answered twice";
      value = std::move(got);
    };
  }
  bool waits() const { return !value.has_value(); }
  const T& operator*() const { return *value; }
};
using Rows = Answered<arrow::Result<Batch>>;
using YesNo = Answered<arrow::Result<bool>>;
using Outcome = Answered<arrow::Status>;

class StreamOverScript : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { Make(GetParam()); }
  void TearDown() override {
    stream.reset();
    script->Forget();
  }

  void Make(Kind kind) {
    stream = ResultStream::Over(OneInt(), std::make_unique<ScriptedSource>(script), kind);
  }
  void Read(Rows* rows, std::optional<int64_t> max = std::nullopt) {
    stream->Fetch(max, rows->taker());
  }
  static std::vector<int64_t> Given(const Rows& rows) {
    if (rows.waits() || !rows.value->ok() || **rows == nullptr) {
      ADD_FAILURE() << "no rows";
      return {};
    }
    return NumbersOf(***rows);
  }
  static ErrorCode Code(const Rows& rows) { return CodeOf((*rows).status()); }
  static bool Ended(const Rows& rows) {
    return !rows.waits() && rows.value->ok() && **rows == nullptr;
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<ResultStream> stream;
};

class PendingStream : public StreamOverScript {};
class CompleteStream : public StreamOverScript {};
INSTANTIATE_TEST_SUITE_P(Kinds, StreamOverScript, testing::Values(Kind::kPending, Kind::kComplete),
                         [](const auto& kind) {
                           return kind.param == Kind::kPending ? "pending" : "complete";
                         });
INSTANTIATE_TEST_SUITE_P(One, PendingStream, testing::Values(Kind::kPending));
INSTANTIATE_TEST_SUITE_P(One, CompleteStream, testing::Values(Kind::kComplete));

TEST_P(PendingStream, FetchesOneBatchAheadAndNoMore) {
  EXPECT_EQ(script->num_fetches, 1);
  script->Answer(Numbers(0, 2));
  EXPECT_EQ(script->num_fetches, 1);
  Rows first;
  Read(&first);
  EXPECT_THAT(Given(first), ElementsAre(0, 1));
  EXPECT_EQ(script->num_fetches, 2);
  script->Answer(Numbers(2, 3));
  EXPECT_EQ(script->num_fetches, 2);
}

TEST_P(CompleteStream, FetchesOnDemandOnly) {
  EXPECT_EQ(script->num_fetches, 0);
  Rows first;
  Read(&first);
  EXPECT_EQ(script->num_fetches, 1);
  script->Answer(Numbers(0, 2));
  EXPECT_THAT(Given(first), ElementsAre(0, 1));
  EXPECT_EQ(script->num_fetches, 1);
}

TEST_P(StreamOverScript, OverlappingCallsShareOneFetchAndLoseNothing) {
  Rows first, second, third;
  YesNo more, later;
  stream->HasMore(more.taker());
  Read(&first);
  Read(&second);
  stream->HasMore(later.taker());
  Read(&third);
  EXPECT_EQ(script->num_fetches, 1);
  script->Answer(Numbers(0, 1));
  EXPECT_TRUE((*more).ValueOrDie());
  EXPECT_THAT(Given(first), ElementsAre(0));
  EXPECT_TRUE(second.waits());
  EXPECT_EQ(script->num_fetches, 2);
  script->Answer(Numbers(1, 2));
  EXPECT_THAT(Given(second), ElementsAre(1));
  EXPECT_TRUE(later.waits());
  script->Answer(Batch());
  EXPECT_FALSE((*later).ValueOrDie());
  EXPECT_TRUE(Ended(third));
  EXPECT_EQ(script->num_fetches, 3);
}

TEST_P(StreamOverScript, TheEndIsToldToAllAndFetchedOnce) {
  for (int i = 0; i < 3; ++i) {
    Rows rows;
    Read(&rows);
    if (i == 0) script->Answer(Batch());
    EXPECT_TRUE(Ended(rows));
  }
  EXPECT_EQ(script->num_fetches, 1);
}

TEST_P(StreamOverScript, HasMoreBeforeTheFirstReadTakesNothing) {
  YesNo more;
  stream->HasMore(more.taker());
  script->Answer(Numbers(0, 3));
  EXPECT_TRUE((*more).ValueOrDie());
  Rows rows;
  Read(&rows);
  EXPECT_THAT(Given(rows), ElementsAre(0, 1, 2));
}

TEST_P(StreamOverScript, HasMoreLooksPastBatchesWithoutRows) {
  YesNo more;
  stream->HasMore(more.taker());
  script->Answer(Numbers(0, 0));
  EXPECT_TRUE(more.waits());
  script->Answer(Batch());
  EXPECT_FALSE((*more).ValueOrDie());
}

TEST_P(StreamOverScript, ChunksAreExactUntilTheTail) {
  script->at_fetch = [](int64_t fetch, const BatchSource::OnBatch& done) {
    done(fetch > 5 ? Batch() : Numbers((fetch - 1) * 3, fetch * 3));  // 15 rows
    return true;
  };
  if (!script->fetches.empty()) script->Answer(Numbers(0, 3));
  std::vector<std::vector<int64_t>> chunks;
  while (true) {
    Rows rows;
    Read(&rows, 4);
    if (Ended(rows)) break;
    chunks.push_back(Given(rows));
  }
  EXPECT_THAT(chunks, ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7),
                                  ElementsAre(8, 9, 10, 11), ElementsAre(12, 13, 14)));
}

TEST_P(StreamOverScript, WholeBatchesAfterAChunkGoOnWhereItEnded) {
  Rows chunk, rest, next;
  Read(&chunk, 2);
  script->Answer(Numbers(0, 5));
  EXPECT_THAT(Given(chunk), ElementsAre(0, 1));
  YesNo more;
  stream->HasMore(more.taker());
  EXPECT_TRUE((*more).ValueOrDie());
  Read(&rest);
  EXPECT_THAT(Given(rest), ElementsAre(2, 3, 4));
}

TEST_P(StreamOverScript, ChunkOfNoRowsIsRefused) {
  Rows rows;
  Read(&rows, 0);
  EXPECT_EQ(Code(rows), ErrorCode::kInvalid);
}

TEST_P(PendingStream, AnErrorThatNobodyWaitsForIsKeptForItsRead) {
  script->Answer(Numbers(0, 1));
  Rows first;
  Read(&first);
  script->Answer(base::Io("disk on fire"));  // nobody reads
  EXPECT_THAT(Given(first), ElementsAre(0));
  YesNo more;
  stream->HasMore(more.taker());
  EXPECT_TRUE((*more).ValueOrDie());  // takes nothing, the error neither
  Rows second, third;
  Read(&second);
  ASSERT_EQ(script->closes.size(), 1);  // cleans up first
  EXPECT_TRUE(second.waits());
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_EQ(Code(second), ErrorCode::kIo);
  EXPECT_TRUE(base::CauseOf((*second).status()).ok());
  Read(&third);
  EXPECT_EQ(Code(third), ErrorCode::kState);
  EXPECT_THAT((*third).status().message(), HasSubstr("disk on fire"));
  EXPECT_EQ(script->num_fetches, 2);
}

TEST_P(StreamOverScript, RowsBeforeAnErrorAreReadFirst) {
  Rows chunk, failed;
  Read(&chunk, 10);
  script->Answer(Numbers(0, 3));
  script->Answer(base::Io("disk on fire"));
  EXPECT_THAT(Given(chunk), ElementsAre(0, 1, 2));
  Read(&failed, 10);
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_EQ(Code(failed), ErrorCode::kIo);
}

TEST_P(StreamOverScript, CleanUpThatFailsIsTheCause) {
  Rows rows;
  Read(&rows);
  script->Answer(base::Corrupt("file", 7, "bad bytes"));
  Script::Answer(&script->closes, base::Io("can't clean up"));
  const arrow::Status error = (*rows).status();
  EXPECT_EQ(CodeOf(error), ErrorCode::kCorrupt);
  EXPECT_EQ(base::MessageOf(error), "bad bytes (file, byte 7)");
  EXPECT_EQ(CodeOf(base::CauseOf(error)), ErrorCode::kIo);
  EXPECT_THAT(base::CauseOf(error).message(), HasSubstr("can't clean up"));
  // Closing it is still to be done, and may be tried again.
  Outcome closed;
  stream->Close(closed.taker());
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_TRUE((*closed).ok());
}

TEST_P(StreamOverScript, ReadsThatWaitBehindAnErrorFailWithState) {
  Rows first, second;
  YesNo more;
  Read(&first);
  Read(&second);
  stream->HasMore(more.taker());
  script->Answer(base::Io("disk on fire"));
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_EQ(Code(first), ErrorCode::kIo);
  EXPECT_EQ(Code(second), ErrorCode::kState);
  EXPECT_EQ(CodeOf((*more).status()), ErrorCode::kState);
}

TEST_P(StreamOverScript, AFetchThatThrowsIsTheReadersError) {
  TearDown();
  script = std::make_shared<Script>();
  script->at_fetch = [](int64_t, const BatchSource::OnBatch&) -> bool {
    throw std::runtime_error("odd");
  };
  Make(GetParam());
  Rows rows;
  Read(&rows);
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_EQ(Code(rows), ErrorCode::kInternal);
  EXPECT_THAT((*rows).status().message(), HasSubstr("odd"));
}

TEST_P(StreamOverScript, ASecondAnswerOfAFetchCountsNot) {
  Rows first, second;
  Read(&first);
  const auto twice = script->fetches.front();
  script->Answer(Numbers(0, 1));
  twice(Numbers(7, 9));
  twice(base::Io("late"));
  Read(&second);
  script->Answer(Numbers(1, 2));
  EXPECT_THAT(Given(first), ElementsAre(0));
  EXPECT_THAT(Given(second), ElementsAre(1));
}

TEST_P(StreamOverScript, AFailedCloseKeepsUnreadRowsAndMayBeRetried) {
  YesNo more;
  stream->HasMore(more.taker());
  script->Answer(Numbers(0, 4));
  Rows part;
  Read(&part, 1);
  Outcome failed, closed;
  stream->Close(failed.taker());
  Rows meanwhile;
  Read(&meanwhile);
  EXPECT_EQ(Code(meanwhile), ErrorCode::kState);
  Script::Answer(&script->closes, base::Io("not now"));
  EXPECT_EQ(CodeOf(*failed), ErrorCode::kIo);
  Rows rest;
  Read(&rest);
  EXPECT_THAT(Given(rest), ElementsAre(1, 2, 3));
  stream->Close(closed.taker());
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_TRUE((*closed).ok());
  Rows after;
  Read(&after);
  EXPECT_EQ(Code(after), ErrorCode::kState);
  EXPECT_EQ(script->num_closes, 2);
}

TEST_P(StreamOverScript, AReadThatWaitsSurvivesAFailedClose) {
  Rows rows;
  Read(&rows);
  Outcome failed;
  stream->Close(failed.taker());
  script->Answer(Numbers(0, 1));
  EXPECT_TRUE(rows.waits());  // until it is known how the close ends
  Script::Answer(&script->closes, base::Io("not now"));
  EXPECT_THAT(Given(rows), ElementsAre(0));
}

TEST_P(StreamOverScript, ClosesThatOverlapShareOneOutcome) {
  Outcome one, two, three;
  stream->Close(one.taker());
  stream->Close(two.taker());
  EXPECT_EQ(script->num_closes, 1);
  Script::Answer(&script->closes, base::Io("not now"));
  EXPECT_EQ(CodeOf(*one), ErrorCode::kIo);
  EXPECT_EQ(CodeOf(*two), ErrorCode::kIo);
  stream->Close(three.taker());
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_TRUE((*three).ok());
  Outcome again;
  stream->Close(again.taker());
  EXPECT_TRUE((*again).ok());
  EXPECT_EQ(script->num_closes, 2);
}

TEST_P(StreamOverScript, CloseAndCancelSettleWhileAFetchHangs) {
  Rows rows;
  YesNo more;
  Read(&rows);
  stream->HasMore(more.taker());
  ASSERT_EQ(script->fetches.size(), 1);  // and it is never answered
  Outcome closed, cancelled;
  stream->Cancel(cancelled.taker());
  EXPECT_EQ(Code(rows), ErrorCode::kState);
  EXPECT_EQ(CodeOf((*more).status()), ErrorCode::kState);
  Script::Answer(&script->cancels, arrow::Status::OK());
  EXPECT_TRUE((*cancelled).ok());
  stream->Close(closed.taker());
  Script::Answer(&script->closes, arrow::Status::OK());
  EXPECT_TRUE((*closed).ok());
}

TEST_P(StreamOverScript, CancelDuringCloseBlocksAtOnceAndBothSettle) {
  Rows rows;
  Read(&rows);
  Outcome closed, cancelled;
  stream->Close(closed.taker());
  EXPECT_TRUE(rows.waits());
  stream->Cancel(cancelled.taker());
  EXPECT_EQ(Code(rows), ErrorCode::kState);
  Script::Answer(&script->closes, base::Io("not now"));
  Script::Answer(&script->cancels, arrow::Status::OK());
  EXPECT_EQ(CodeOf(*closed), ErrorCode::kIo);
  EXPECT_TRUE((*cancelled).ok());
  Rows after;  // the failed close doesn't take the cancel back
  Read(&after);
  EXPECT_EQ(Code(after), ErrorCode::kState);
}

TEST_P(StreamOverScript, RowsOfAFetchUnderWayAtCancelNeverCome) {
  Rows rows, after;
  Read(&rows);
  stream->Cancel();
  script->Answer(Numbers(0, 3));
  EXPECT_EQ(Code(rows), ErrorCode::kState);
  Read(&after);
  EXPECT_EQ(Code(after), ErrorCode::kState);
}

TEST_P(StreamOverScript, CancelStaysEvenIfTheSourceFailsIt) {
  Outcome failed, again;
  stream->Cancel(failed.taker());
  Script::Answer(&script->cancels, base::Io("no line"));
  EXPECT_EQ(CodeOf(*failed), ErrorCode::kIo);
  Rows rows;
  Read(&rows);
  EXPECT_EQ(Code(rows), ErrorCode::kState);
  stream->Cancel(again.taker());
  Script::Answer(&script->cancels, arrow::Status::OK());
  EXPECT_TRUE((*again).ok());
}

TEST_P(StreamOverScript, HasMoreNeverSaysNoAfterCancelOrClose) {
  for (const bool close : {false, true}) {
    TearDown();
    script = std::make_shared<Script>();
    Make(GetParam());
    Rows end;
    Read(&end);
    script->Answer(Batch());
    Outcome outcome;
    if (close) {
      stream->Close(outcome.taker());
      Script::Answer(&script->closes, arrow::Status::OK());
    } else {
      stream->Cancel();
    }
    YesNo more;
    stream->HasMore(more.taker());
    EXPECT_EQ(CodeOf((*more).status()), ErrorCode::kState);
  }
}

TEST_P(StreamOverScript, FinishTellsTheOutcomeAndTakesNoError) {
  Outcome finished;
  stream->Finish(finished.taker());
  Script::Answer(&script->finishes, base::Io("disk on fire"));
  EXPECT_EQ(CodeOf(*finished), ErrorCode::kIo);
  Rows rows;
  Read(&rows);
  script->Answer(Numbers(0, 1));
  EXPECT_THAT(Given(rows), ElementsAre(0));
}

TEST_P(StreamOverScript, FinishSettlesAtCancel) {
  Outcome finished, late;
  stream->Finish(finished.taker());
  stream->Cancel();
  EXPECT_EQ(CodeOf(*finished), ErrorCode::kState);
  Script::Answer(&script->finishes, arrow::Status::OK());  // heard by nobody
  stream->Finish(late.taker());
  EXPECT_EQ(CodeOf(*late), ErrorCode::kState);
}

TEST_P(StreamOverScript, ACallbackMayCallTheStream) {
  std::vector<int64_t> seen;
  std::function<void()> read = [&] {
    stream->Fetch(std::nullopt, [&](const arrow::Result<Batch>& rows) {
      if (*rows == nullptr) return;
      seen.push_back(NumbersOf(**rows).front());
      read();
    });
  };
  script->at_fetch = [](int64_t fetch, const BatchSource::OnBatch& done) {
    done(fetch > 10'000 ? Batch() : Numbers(fetch, fetch + 1));
    return true;
  };
  if (!script->fetches.empty()) script->Answer(Numbers(1, 2));
  read();
  EXPECT_EQ(seen.size(), 10'000);  // and the stack held
}

TEST_P(StreamOverScript, NoBatchThatWasReadIsKept) {
  Rows first;
  Read(&first);
  Batch batch = Numbers(0, 2);
  const std::weak_ptr<arrow::RecordBatch> watch = batch;
  script->Answer(std::move(batch));
  first.value.reset();
  EXPECT_TRUE(watch.expired());
}

TEST_P(StreamOverScript, ReadsAreAnsweredBeforeTheStreamGoes) {
  Rows rows;
  Read(&rows);
  Outcome finished, closed;
  stream->Finish(finished.taker());
  stream->Close(closed.taker());
  stream.reset();
  EXPECT_EQ(Code(rows), ErrorCode::kState);
  EXPECT_EQ(CodeOf(*finished), ErrorCode::kState);
  script->Answer(Numbers(0, 1));                         // heard by nobody
  Script::Answer(&script->closes, arrow::Status::OK());  // the only thing that was still owed
  EXPECT_TRUE((*closed).ok());
}

}  // namespace
}  // namespace kinjo::stream
