// New fragments: rows in, whole data files out, one after another as the limits of a file are
// reached. Nobody sees them before a commit names them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "base/error.h"
#include "format/file/file_writer.h"
#include "format/proto/table_messages.h"
#include "format/schema.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

struct FragmentLimits {
  uint64_t max_rows = uint64_t{1} << 20;  ///< rows of a file
  uint64_t max_bytes = uint64_t{90} << 30;
  uint64_t page_bytes = uint64_t{8} << 20;  ///< of a column that wait in memory
};

/// Writes the fields of a schema. One thread. Files of a writer that is dropped before Finish() are
/// removed.
class FragmentWriter {
 public:
  /// `schema` may be a part of the table's. `data_format` is "2.0", "2.1" or "2.2".
  static arrow::Result<std::unique_ptr<FragmentWriter>> Make(io::Location root,
                                                             format::Schema schema,
                                                             const std::string& data_format,
                                                             const FragmentLimits& limits);
  ~FragmentWriter();

  /// Adds rows: column i is field i of the schema.
  arrow::Status Write(const arrow::RecordBatch& batch);
  /// Ends the file that rows went to last; the next ones begin another.
  arrow::Status EndFile();
  /// The fragments, ids 0, with their files synced. From now on the files are the caller's.
  arrow::Result<std::vector<format::proto::DataFragmentMessage>> Finish();

  uint64_t rows() const { return rows_; }
  uint64_t bytes() const { return bytes_; }  ///< of the files that are whole

 private:
  FragmentWriter(io::Location root, format::Schema schema, format::FileVersion version,
                 const FragmentLimits& limits)
      : root_(std::move(root)), schema_(std::move(schema)), version_(version), limits_(limits) {}
  arrow::Status BeginFile();

  const io::Location root_;
  const format::Schema schema_;
  const format::FileVersion version_;
  const FragmentLimits limits_;
  std::string name_;  ///< of the file at work
  std::shared_ptr<arrow::io::OutputStream> stream_;
  std::unique_ptr<format::FileWriter> file_;
  uint64_t file_rows_ = 0;
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
  std::vector<format::proto::DataFragmentMessage> fragments_;
};

}  // namespace kinjo::dataset
