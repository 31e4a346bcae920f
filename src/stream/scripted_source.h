// A source of result rows for tests: it does nothing by itself, and answers when and as the test
// says.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrow/array/array_primitive.h"
#include "arrow/array/builder_primitive.h"
#include "arrow/type.h"
#include "stream/batch_source.h"
#include "stream/result_stream.h"

namespace kinjo::stream {

// One object for all: comparing two equal schemas fills caches inside them, and those are guarded
// in a way that ThreadSanitizer can't see in an Arrow that was built without it.
inline const std::shared_ptr<arrow::Schema>& OneInt() {
  static const auto schema = arrow::schema({arrow::field("n", arrow::int64())});
  return schema;
}

/// The numbers [begin, end).
inline Batch Numbers(int64_t begin, int64_t end) {
  arrow::Int64Builder builder;
  for (int64_t n = begin; n < end; ++n) static_cast<void>(builder.Append(n));
  return arrow::RecordBatch::Make(OneInt(), end - begin, {builder.Finish().ValueOrDie()});
}

inline std::vector<int64_t> NumbersOf(const arrow::RecordBatch& batch) {
  const auto& column = static_cast<const arrow::Int64Array&>(*batch.column(0));
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < batch.num_rows(); ++i) numbers.push_back(column.Value(i));
  return numbers;
}

/// What was asked of the source and waits for an answer; held by the test.
struct Script {
  std::deque<BatchSource::OnBatch> fetches;
  std::deque<BatchSource::OnDone> closes, cancels, finishes;
  /// Called for each fetch, with its number from 1, before it is queued; may answer or throw.
  std::function<bool(int64_t fetch, const BatchSource::OnBatch& done)> at_fetch;
  std::function<bool(int64_t close, const BatchSource::OnDone& done)> at_close, at_cancel;
  int64_t num_fetches = 0, num_closes = 0, num_cancels = 0;

  /// Drops what was never answered: it holds the stream, whose source holds this script.
  void Forget() {
    const auto requests = std::make_tuple(std::exchange(fetches, {}), std::exchange(closes, {}),
                                          std::exchange(cancels, {}), std::exchange(finishes, {}));
  }
  /// Answers the oldest that waits; there must be one.
  void Answer(arrow::Result<Batch> result) {
    auto done = std::move(fetches.at(0));
    fetches.pop_front();
    done(std::move(result));
  }
  static void Answer(std::deque<BatchSource::OnDone>* waiting, const arrow::Status& status) {
    auto done = std::move(waiting->at(0));
    waiting->pop_front();
    done(status);
  }
};

class ScriptedSource final : public BatchSource {
 public:
  explicit ScriptedSource(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  void Fetch(OnBatch done) override {
    const int64_t number = ++script_->num_fetches;
    if (script_->at_fetch && script_->at_fetch(number, done)) return;
    script_->fetches.push_back(std::move(done));
  }
  void Finish(OnDone done) override { script_->finishes.push_back(std::move(done)); }
  void Cancel(OnDone done) override {
    const int64_t number = ++script_->num_cancels;
    if (script_->at_cancel && script_->at_cancel(number, done)) return;
    script_->cancels.push_back(std::move(done));
  }
  void Close(OnDone done) override {
    const int64_t number = ++script_->num_closes;
    if (script_->at_close && script_->at_close(number, done)) return;
    script_->closes.push_back(std::move(done));
  }

 private:
  std::shared_ptr<Script> script_;
};

}  // namespace kinjo::stream
