// Turns batches into the bytes of one format. Where the bytes go, and what becomes of them on
// failure, is table_sink.cc's and output_file.h's.
#pragma once

#include <memory>

#include "arrow/io/interfaces.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "tabular/table_sink.h"

namespace kinjo::tabular {

/// One thread. Holds `out`'s pointer; the stream outlives it.
class FormatWriter {
 public:
  virtual ~FormatWriter() = default;
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Writes what ends the file; doesn't close the stream.
  virtual arrow::Status Finish() = 0;
};

arrow::Result<std::unique_ptr<FormatWriter>> MakeParquetWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options);

/// Refuses compression names that the format doesn't have, and row group sizes below 1.
arrow::Status CheckParquetOptions(const SinkOptions& options);

}  // namespace kinjo::tabular
