// Batches that nobody has read yet, in a temporary file: what a finished join keeps its rows in, so
// that they take no memory. The file has no name, so it goes with whoever holds it, however that
// ends.
#pragma once

#include <memory>

#include "arrow/io/interfaces.h"
#include "arrow/ipc/type_fwd.h"
#include "arrow/type_fwd.h"
#include "base/error.h"
#include "stream/batch_source.h"

namespace kinjo::stream {

/// First in, first out. One thread puts and one, perhaps another, takes.
class BatchSpool {
 public:
  /// Makes the file in the system's folder for such (TMPDIR); `io` says where it couldn't.
  static arrow::Result<std::unique_ptr<BatchSpool>> Make(
      const std::shared_ptr<arrow::Schema>& schema);
  ~BatchSpool();

  arrow::Status Put(const arrow::RecordBatch& batch);
  /// Requires: a Put that returned before was of a batch that wasn't taken.
  arrow::Result<Batch> Take();

 private:
  BatchSpool() = default;

  std::string folder_;
  std::shared_ptr<arrow::io::OutputStream> out_;
  std::shared_ptr<arrow::io::InputStream> in_;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
  std::shared_ptr<arrow::ipc::RecordBatchStreamReader> reader_;  // made by the first Take
};

}  // namespace kinjo::stream
