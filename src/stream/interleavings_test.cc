// Random interleavings of everything that can be called, against a sequential model of what a
// result stream promises; and the same calls from many threads at once on a stream whose producer
// runs.
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "base/error_cause.h"
#include "gmock/gmock.h"
#include "stream/scripted_source.h"

namespace kinjo::stream {
namespace {

using base::CodeOf;
using base::ErrorCode;
using Kind = ResultStream::Kind;
using Random = std::mt19937;

constexpr int kInterleavings = 10'000;

std::string Shown(const arrow::Result<Batch>& result) {
  if (!result.ok()) return std::string(base::ErrorCodeName(CodeOf(result.status())));
  if (*result == nullptr) return "end";
  std::string text = "rows";
  for (const int64_t n : NumbersOf(**result)) text += " " + std::to_string(n);
  return text;
}

// The same promises as plain sequential code over row numbers: what each call must have answered.
class Model {
 public:
  explicit Model(Kind kind) : kind_(kind) { Settle(); }

  std::map<int, std::string> answers;
  int fetches_under_way = 0;
  int closes_under_way = 0;

  void Read(int id, std::optional<int64_t> max_rows) {
    if (Refused(id)) return;
    reads_.push_back({id, false, max_rows, {}});
    Settle();
  }
  void HasMore(int id) {
    if (Refused(id)) return;
    reads_.push_back({id, true, std::nullopt, {}});
    Settle();
  }
  void Cancel(int id) {
    Block("cancelled");
    answers[id] = "ok";
  }
  void Close(int id) {
    if (source_closed_) {
      Block("closed");
      answers[id] = "ok";
      return;
    }
    closers_.push_back(id);
    close_asked_ = true;
    if (closes_under_way == 0) closes_under_way = 1;
  }
  void Fetched(std::vector<int64_t> rows, const std::string& end) {
    --fetches_under_way;
    if (!blocked_.empty()) return;
    ready_ = {true, std::move(rows), end};
    Settle();
  }
  void Closed(bool well) {
    closes_under_way = 0;
    source_closed_ = well;
    if (well && close_asked_) Block("closed");
    close_asked_ = false;
    for (const int id : closers_) answers[id] = well ? "ok" : "io";
    closers_.clear();
    if (failing_) answers[*failing_] = well ? "corrupt" : "corrupt then io";
    failing_.reset();
    Settle();
  }

 private:
  struct OneRead {
    int id;
    bool asks;
    std::optional<int64_t> max_rows;
    std::vector<int64_t> rows;
  };
  struct Ready {
    bool there = false;
    std::vector<int64_t> rows;
    std::string end;  // "", "end" or "corrupt"
  };

  bool Refused(int id) {
    const bool refused = !blocked_.empty() || close_asked_ || (failed_ && closes_under_way == 0);
    if (refused) answers[id] = "state";
    return refused;
  }
  void Block(const std::string& why) {
    if (blocked_ != "closed") blocked_ = why;
    for (const OneRead& read : reads_) answers[read.id] = "state";
    reads_.clear();
    ready_ = {};
    rest_.clear();
  }
  void Give(std::string text) {
    answers[reads_.front().id] = std::move(text);
    reads_.pop_front();
  }
  static std::string RowsText(const std::vector<int64_t>& rows) {
    std::string text = "rows";
    for (const int64_t n : rows) text += " " + std::to_string(n);
    return text;
  }

  // Serves the first read as far as it goes; false when it must wait.
  bool ServeFirst() {
    OneRead& read = reads_.front();
    if (failed_) return Give("state"), true;
    if (rest_.empty() && ready_.there && ready_.end.empty()) {
      if (read.asks) return Give("yes"), true;
      rest_ = std::exchange(ready_, {}).rows;
    }
    if (!rest_.empty()) {
      if (read.asks) return Give("yes"), true;
      while (!rest_.empty() &&
             (!read.max_rows || static_cast<int64_t>(read.rows.size()) < *read.max_rows)) {
        read.rows.push_back(rest_.front());
        rest_.erase(rest_.begin());
      }
      if (read.max_rows && static_cast<int64_t>(read.rows.size()) < *read.max_rows) return true;
      return Give(RowsText(read.rows)), true;
    }
    if (!ready_.there) return false;
    if (read.asks) return Give(ready_.end == "end" ? "no" : "yes"), true;
    if (!read.rows.empty()) return Give(RowsText(read.rows)), true;
    if (ready_.end == "end") return Give("end"), true;
    failed_ = true;
    ready_ = {};
    failing_ = read.id;
    reads_.pop_front();
    closes_under_way = 1;
    return true;
  }

  void Settle() {
    if (!blocked_.empty()) return;
    while (closes_under_way == 0 && !reads_.empty() && ServeFirst()) {
    }
    if (closes_under_way > 0 || ready_.there || failed_ || fetches_under_way > 0) return;
    if (kind_ == Kind::kPending || !reads_.empty()) ++fetches_under_way;
  }

  const Kind kind_;
  std::deque<OneRead> reads_;
  Ready ready_;
  std::vector<int64_t> rest_;
  std::string blocked_;
  std::optional<int> failing_;
  std::vector<int> closers_;
  bool failed_ = false, close_asked_ = false, source_closed_ = false;
};

// One stream and its model, driven by the same random choices.
class Pair {
 public:
  Pair(Kind kind, Random* random) : random_(random), model_(kind) {
    script_->at_cancel = [](int64_t, const BatchSource::OnDone& done) {
      done(arrow::Status::OK());
      return true;
    };
    stream_ = ResultStream::Over(OneInt(), std::make_unique<ScriptedSource>(script_), kind);
  }
  ~Pair() {
    stream_.reset();
    script_->Forget();
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  void Step() {
    const uint32_t choice = (*random_)() % 100;
    if (choice < 30) return Read();
    if (choice < 42) return HasMore();
    if (choice < 80) return AnswerFetch();
    if (choice < 86) return Close();
    if (choice < 97) return AnswerClose();
    if (choice == 99) Cancel();
  }

  void Compare() const {
    ASSERT_EQ(answers_, model_.answers);
    ASSERT_EQ(static_cast<int>(script_->closes.size()), model_.closes_under_way);
    // At most one batch is fetched ahead.
    ASSERT_LE(script_->fetches.size(), 1U);
    if (!blocked_) {
      ASSERT_EQ(static_cast<int>(script_->fetches.size()), model_.fetches_under_way);
    }
  }

 private:
  void Note(int id, std::string text) {
    ASSERT_EQ(answers_.count(id), 0U) << "answered twice";
    answers_[id] = std::move(text);
  }
  void Read() {
    const int id = ++last_id_;
    std::optional<int64_t> max_rows;
    if ((*random_)() % 2 == 0) max_rows = 1 + (*random_)() % 5;
    model_.Read(id, max_rows);
    stream_->Fetch(max_rows, [this, id](const arrow::Result<Batch>& result) {
      const bool caused = !result.ok() && !base::CauseOf(result.status()).ok();
      Note(id, Shown(result) + (caused ? " then io" : ""));
    });
  }
  void HasMore() {
    const int id = ++last_id_;
    model_.HasMore(id);
    stream_->HasMore([this, id](const arrow::Result<bool>& more) {
      Note(id, !more.ok() ? "state" : *more ? "yes" : "no");
    });
  }
  void Close() {
    const int id = ++last_id_;
    model_.Close(id);
    stream_->Close(
        [this, id](const arrow::Status& status) { Note(id, status.ok() ? "ok" : "io"); });
  }
  void Cancel() {
    const int id = ++last_id_;
    blocked_ = true;
    model_.Cancel(id);
    stream_->Cancel(
        [this, id](const arrow::Status& status) { Note(id, status.ok() ? "ok" : "io"); });
  }
  void AnswerFetch() {
    if (script_->fetches.empty()) return;
    const uint32_t what = (*random_)() % 12;
    if (what == 0) {
      model_.Fetched({}, "end");
      script_->Answer(Batch());
    } else if (what == 1) {
      model_.Fetched({}, "corrupt");
      script_->Answer(base::Corrupt("file", 0, "bad bytes"));
    } else {
      const int64_t begin = next_row_;
      next_row_ += 1 + (*random_)() % 4;
      std::vector<int64_t> rows;
      for (int64_t n = begin; n < next_row_; ++n) rows.push_back(n);
      model_.Fetched(std::move(rows), "");
      script_->Answer(Numbers(begin, next_row_));
    }
  }
  void AnswerClose() {
    if (script_->closes.empty()) return;
    const bool well = (*random_)() % 3 != 0;
    if (well) blocked_ = true;
    model_.Closed(well);
    Script::Answer(&script_->closes, well ? arrow::Status::OK() : base::Io("not now"));
  }

  Random* random_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  Model model_;
  std::map<int, std::string> answers_;
  int last_id_ = 0;
  int64_t next_row_ = 0;
  bool blocked_ = false;
  std::unique_ptr<ResultStream> stream_;  // ends first, and tells those that still wait
};

TEST(Interleavings, EveryOrderOfCallsIsAsTheModelSays) {
  for (int seed = 0; seed < kInterleavings; ++seed) {
    Random random(static_cast<uint32_t>(seed));
    Pair pair(seed % 2 == 0 ? Kind::kPending : Kind::kComplete, &random);
    for (int step = 0; step < 40; ++step) {
      pair.Step();
      pair.Compare();
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

// What one thread saw.
struct Seen {
  std::vector<int64_t> rows;
  int ends = 0, errors = 0;
  bool in_order = true, state_is_final = true;
};

void ReadAll(ResultStream* stream, uint32_t seed, Seen* seen) {
  Random random(seed);
  bool blocked = false;
  while (true) {
    if (random() % 3 == 0) {
      const auto more = stream->HasMore();
      if (more.ok() && blocked) seen->state_is_final = false;
    }
    std::optional<int64_t> max_rows;
    if (random() % 2 == 0) max_rows = 1 + random() % 7;
    const auto batch = stream->Next(max_rows);
    if (!batch.ok()) {
      if (CodeOf(batch.status()) == ErrorCode::kState) {
        if (std::exchange(blocked, true)) return;
        continue;
      }
      ++seen->errors;
      continue;
    }
    if (blocked) seen->state_is_final = false;
    if (*batch == nullptr) {
      ++seen->ends;
      return;
    }
    for (const int64_t n : NumbersOf(**batch)) {
      if (!seen->rows.empty() && n <= seen->rows.back()) seen->in_order = false;
      seen->rows.push_back(n);
    }
  }
}

void Round(uint32_t seed) {
  Random random(seed);
  const int64_t batches = random() % 8;
  const bool fails = random() % 4 == 0;
  const auto kind = random() % 2 == 0 ? Kind::kPending : Kind::kComplete;
  auto stream = ResultStream::Start(
      OneInt(),
      [=](const base::CancelToken& cancel, const ResultStream::Emit& emit) -> arrow::Status {
        for (int64_t n = 0; n < batches; ++n) {
          ARROW_RETURN_NOT_OK(cancel.Check());
          ARROW_RETURN_NOT_OK(emit(Numbers(n * 3, n * 3 + 3)));
        }
        return fails ? base::Io("late") : arrow::Status::OK();
      },
      base::CancelToken(), kind);
  const bool stops = random() % 2 == 0;
  std::vector<Seen> seen(3);
  std::vector<std::thread> threads;
  for (Seen& one : seen) {
    threads.emplace_back([&stream, &one, own = static_cast<uint32_t>(random())] {
      ReadAll(stream.get(), own, &one);
    });
  }
  threads.emplace_back([&stream, stops, what = random() % 4] {
    if (what == 0) static_cast<void>(stream->Finish());
    if (!stops) return;
    if (what % 2 == 1) stream->Cancel();
    if (what >= 1) {
      EXPECT_TRUE(stream->Close().ok());
    }
  });
  for (std::thread& thread : threads) thread.join();
  std::set<int64_t> all;
  size_t rows = 0;
  int errors = 0;
  for (const Seen& one : seen) {
    EXPECT_TRUE(one.in_order);
    EXPECT_TRUE(one.state_is_final);
    all.insert(one.rows.begin(), one.rows.end());
    rows += one.rows.size();
    errors += one.errors;
  }
  EXPECT_EQ(all.size(), rows) << "a row came twice";
  if (!all.empty()) {
    EXPECT_EQ(*all.rbegin(), static_cast<int64_t>(rows) - 1) << "a row was lost";
  }
  EXPECT_LE(errors, 1) << "the error came twice";
  const bool undisturbed = !stops;
  if (undisturbed) {
    EXPECT_EQ(rows, static_cast<size_t>(batches * 3));
    EXPECT_EQ(errors, fails ? 1 : 0);
  }
}

TEST(Interleavings, ThreadsThatReadFinishCancelAndCloseAtOnce) {
  for (int round = 0; round < kInterleavings; ++round) {
    Round(static_cast<uint32_t>(round));
    if (testing::Test::HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace kinjo::stream
