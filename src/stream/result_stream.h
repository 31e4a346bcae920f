// A join's rows, batch by batch, as every face reads them: one batch ahead, single-flight, with
// errors kept for the read that they belong to. Knows no join. docs/streams.md has the states.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "stream/batch_source.h"

namespace kinjo::stream {

/// All functions: any thread, any number at a time; overlapping reads are served in the order of
/// their calls. A callback is called once, from any thread, perhaps before the call returns; it
/// must be quick, may call the stream, and must not destroy it.
class ResultStream {
 public:
  enum class Kind : uint8_t {
    kPending,  ///< work goes on while the caller reads: one batch is fetched ahead
    kComplete  ///< all work is done before the rows are read: batches are fetched on demand
  };

  /// Hands a batch over. Returns when another is wanted, so that the reader's batch and the one
  /// that is made meanwhile are all that exist; at once where the work is to be finished without
  /// reads. Fails with `cancelled` once the stream was cancelled or closed (the producer then
  /// returns). The batch must have the stream's schema. One thread at a time.
  using Emit = std::function<arrow::Status(Batch)>;
  /// Runs on a thread of the stream until done; polls the token. What it captured is freed before
  /// the reader sees the end. An exception becomes an error of the stream (std::bad_alloc:
  /// `capacity`).
  using Producer = std::function<arrow::Status(const base::CancelToken&, const Emit&)>;

  using OnBatch = BatchSource::OnBatch;
  using OnDone = BatchSource::OnDone;
  using OnAnswer = std::function<void(arrow::Result<bool>)>;

  /// Starts the producer. `cancel` belongs to this stream: raising it from outside (a signal
  /// handler) makes the next read fail with `cancelled`, and the stream raises it when it is
  /// cancelled or closed before its end. Never fails: what can't start is the first read's error.
  static std::unique_ptr<ResultStream> Start(std::shared_ptr<arrow::Schema> schema,
                                             Producer producer, base::CancelToken cancel = {},
                                             Kind kind = Kind::kPending);
  /// A stream over any source.
  static std::unique_ptr<ResultStream> Over(std::shared_ptr<arrow::Schema> schema,
                                            std::unique_ptr<BatchSource> source, Kind kind);
  /// Closes the stream, and waits until no thread of its source runs. Every read, Finish and Close
  /// that is still unanswered has its answer before, but for a Close whose source hasn't answered.
  ~ResultStream();

  const std::shared_ptr<arrow::Schema>& schema() const { return schema_; }
  Kind kind() const { return kind_; }

  /// The next batch, null at the end. With `max_rows` (at least 1) exactly so many rows, until the
  /// tail of the result (or the last rows before an error) has fewer.
  ///
  /// A failed fetch is the error of the one read that would have returned its batch; the source
  /// is closed then, and an error of that is the first one's cause (base/error_cause.h). Later
  /// reads fail with `state`, as all do after Cancel or Close, also when the end was reached
  /// before, and while a Close is under way.
  void Fetch(std::optional<int64_t> max_rows, OnBatch done);
  /// Whether a read now would give rows or an error, rather than the end. Takes nothing. Fails like
  /// a read with `state`, and with nothing else.
  void HasMore(OnAnswer done);
  /// Does the work without waiting for reads, whose batches then wait in a temporary file; answers
  /// how the work went, which takes no error from the read that it belongs to. `state` once the
  /// stream is cancelled or closed.
  void Finish(OnDone done);
  /// Blocks further reads at once, for good and whatever the source answers, and asks it to stop; a
  /// read that waits fails now, and rows of a fetch under way are dropped. Answers what the source
  /// did; again after a failure asks again.
  void Cancel(OnDone done);
  /// Closes the source; reads fail meanwhile. If that went well the rows are gone and reads that
  /// wait fail with `state`; else all is as before, rows that were fetched included, and Close may
  /// be called again. Closes that overlap share one outcome. Waits for no fetch.
  void Close(OnDone done);

  /// The same, waiting for the answer.
  arrow::Result<Batch> Next(std::optional<int64_t> max_rows = std::nullopt);
  arrow::Result<bool> HasMore();
  arrow::Status Finish();
  /// Doesn't wait for the source.
  void Cancel();
  /// Waits also until no thread of the source runs. `state` when such a thread itself calls it.
  arrow::Status Close();

 private:
  class Core;
  ResultStream(std::shared_ptr<arrow::Schema> schema, std::unique_ptr<BatchSource> source,
               Kind kind);

  const std::shared_ptr<arrow::Schema> schema_;
  const Kind kind_;
  const std::shared_ptr<Core> core_;  // outlives this where an answer of the source is awaited
};

}  // namespace kinjo::stream
