// Where result rows go: a file, a Lance dataset or a table on the terminal. Files are written
// beside and renamed when whole; nothing half-written is ever at the path that the user named.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrow/record_batch.h"
#include "base/error.h"

namespace kinjo::tabular {

struct SinkOptions {
  std::string format;       ///< "" = by ending; parquet, arrow, csv, jsonl, lance, table
  std::string compression;  ///< parquet and arrow: "", none, snappy, zstd, lz4, gzip, brotli; "" =
                            ///< zstd for parquet, none for arrow
  int64_t row_group_rows = 122880;  ///< parquet: at most; fewer where `held_bytes` ask for it
  /// parquet: what a row group may take in memory, as it comes and as compressed pages; at most
  /// 64 MiB of rows make a group. lance: what its pages that fill may take.
  int64_t held_bytes = int64_t{128} << 20;
  bool overwrite = true;
};

/// One thread. Exactly one of Finish and Abort ends it; the destructor aborts what wasn't finished.
class TableSink {
 public:
  virtual ~TableSink() = default;
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;
  /// Completes the file and puts it at its path.
  virtual arrow::Status Finish() = 0;
  /// Removes what was written.
  virtual void Abort() = 0;
  virtual int64_t rows_written() const = 0;
};

/// Judges the options for `path` by themselves, as OpenSink will; touches no file.
arrow::Status CheckSink(const std::string& path, const SinkOptions& options);

/// Judges the place too, as far as looking at the local file system tells; makes nothing.
arrow::Status CheckSinkPlace(const std::string& path, const SinkOptions& options);

/// Opens a sink for rows of `schema`. `path` "-" is standard output (csv, jsonl, arrow, table). The
/// folder is checked for writing now, so that a long join doesn't fail at its end.
arrow::Result<std::unique_ptr<TableSink>> OpenSink(const std::string& path,
                                                   std::shared_ptr<arrow::Schema> schema,
                                                   const SinkOptions& options = {});

}  // namespace kinjo::tabular
