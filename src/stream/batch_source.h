// Where a result stream's batches come from, seen by the stream: calls that start something and
// answer later. A join's rows are one source (stream/produced_batches.h), a test's script another.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "arrow/record_batch.h"
#include "base/error.h"

namespace kinjo::stream {

using Batch = std::shared_ptr<arrow::RecordBatch>;

/// Each call that takes a callback calls it once, from any thread, perhaps before it returns. A
/// call that throws counts as one that answered with that error. The stream has at most one fetch
/// and one close under way at a time; Cancel, Finish and Close may come while a fetch is.
class BatchSource {
 public:
  using OnBatch = std::function<void(arrow::Result<Batch>)>;
  using OnDone = std::function<void(arrow::Status)>;

  virtual ~BatchSource() = default;

  /// Gives the next batch, null at the end (and again after it).
  virtual void Fetch(OnBatch done) = 0;
  /// Does all work that is left without waiting for reads, and answers how it went.
  virtual void Finish(OnDone done) {
    const OnDone answer = std::move(done);
    answer(arrow::Status::OK());
  }
  /// Asks what runs to stop. A fetch under way may still answer, or never.
  virtual void Cancel(OnDone done) = 0;
  /// Ends the work and frees the rows; the last call but for Cancel, unless it answers with an
  /// error: then all is as before, and it may be called again. Doesn't wait for a fetch under way.
  virtual void Close(OnDone done) = 0;

  /// What keeps rows that were fetched from being read: a cancel from outside.
  virtual arrow::Status Check() const { return arrow::Status::OK(); }
  /// Waits, after Close or Cancel, until no thread of the source runs. Not on such a thread.
  virtual void Join() {}
  /// True on a thread of the source, where a wait for the source would never end.
  virtual bool OnOwnThread() const { return false; }
};

}  // namespace kinjo::stream
