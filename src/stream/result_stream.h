// A stream of record batches made by a producer that runs ahead of its reader by at most one batch.
// Knows no join. docs/streams.md has the states.
#pragma once

#include <functional>
#include <memory>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"

namespace kinjo::stream {

/// Next and Close: one thread at a time. Cancel: any thread, any number of times.
class ResultStream {
 public:
  /// Hands a batch over. Returns once the reader took it, so that the reader's batch and the one
  /// that is made meanwhile are all that exist; fails with `cancelled` once the stream was
  /// cancelled or closed (the producer then returns). The batch must have the stream's schema. One
  /// thread at a time.
  using Emit = std::function<arrow::Status(std::shared_ptr<arrow::RecordBatch>)>;
  /// Runs on a thread of the stream until done; polls the token. What it captured is freed before
  /// the reader sees the end. An exception becomes an error of the stream (std::bad_alloc:
  /// `capacity`).
  using Producer = std::function<arrow::Status(const base::CancelToken&, const Emit&)>;

  /// Starts the producer. `cancel` belongs to this stream: raising it from outside (a signal
  /// handler) makes reads fail with `cancelled`, and the stream raises it when it is cancelled or
  /// closed before its end. Never fails: what can't start is the first read's error.
  static std::unique_ptr<ResultStream> Start(std::shared_ptr<arrow::Schema> schema,
                                             Producer producer, base::CancelToken cancel = {});
  /// Closes the stream.
  virtual ~ResultStream() = default;

  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  /// The next batch, null at the end; the producer's error once its earlier batches were read (and
  /// again at each later read); `state` after Cancel or Close, also when the end was reached
  /// before.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
  /// Blocks further reads at once and asks the producer to stop; a read that waits fails now.
  virtual void Cancel() = 0;
  /// Cancels what still runs and waits for it. Idempotent; an error that no read returned is
  /// dropped. `state` when the producer itself calls it, for it would wait for itself.
  virtual arrow::Status Close() = 0;
};

}  // namespace kinjo::stream
