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
  /// Gives the producer somewhere to put a batch. Blocks while the reader is a batch behind; fails
  /// with `cancelled` once the stream was cancelled or closed.
  using Emit = std::function<arrow::Status(std::shared_ptr<arrow::RecordBatch>)>;
  /// Runs on a thread of the stream until done; polls the token.
  using Producer = std::function<arrow::Status(const base::CancelToken&, const Emit&)>;

  /// Starts the producer.
  static std::unique_ptr<ResultStream> Start(std::shared_ptr<arrow::Schema> schema,
                                             Producer producer, base::CancelToken cancel = {});
  virtual ~ResultStream() = default;

  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  /// The next batch, null at the end; the producer's error once its earlier batches were read;
  /// `state` after Cancel or Close.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() = 0;
  /// Blocks further reads at once and asks the producer to stop.
  virtual void Cancel() = 0;
  /// Cancels what still runs and waits for it. Idempotent.
  virtual arrow::Status Close() = 0;
};

}  // namespace kinjo::stream
