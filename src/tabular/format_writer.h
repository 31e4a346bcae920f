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

/// Makes the writer of one format. A column that the format can't hold is `not_supported`.
using MakeFormatWriter = arrow::Result<std::unique_ptr<FormatWriter>>(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options);

MakeFormatWriter MakeParquetWriter;      // parquet_writer.cc
MakeFormatWriter MakeArrowFileWriter;    // arrow_writer.cc
MakeFormatWriter MakeArrowStreamWriter;  // arrow_writer.cc
MakeFormatWriter MakeCsvWriter;          // text_writers.cc
MakeFormatWriter MakeJsonlWriter;        // text_writers.cc
MakeFormatWriter MakeTerminalTable;      // terminal_table.cc

// What the options may say for a format: `invalid` names the option, its value and the choices.
arrow::Status CheckParquetOptions(const SinkOptions& options);
arrow::Status CheckArrowOptions(const SinkOptions& options);
arrow::Status CheckTextOptions(const SinkOptions& options);

}  // namespace kinjo::tabular
