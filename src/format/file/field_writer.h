// One top-level field on its way into a file: rows are gathered column by column and become pages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array/data.h"
#include "arrow/buffer.h"
#include "format/file/lance_file.h"
#include "format/proto/file_messages.h"
#include "format/schema.h"

namespace kinjo::format::file {

/// Where pages go.
class PageSink {
 public:
  virtual ~PageSink() = default;
  /// Writes the next page of a column. `first_row`: the row of the file with which it begins.
  virtual arrow::Status AddPage(uint32_t column,
                                const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                                proto::Encoding encoding, uint64_t num_rows,
                                uint64_t first_row) = 0;
};

/// What all fields of a file share.
struct FieldWriteContext {
  std::string path;  ///< for messages
  FileVersion version;
  uint64_t page_bytes = 0;
  ColumnMap columns;
};

/// Gathers the rows of one field. Not thread-safe.
class FieldWriter {
 public:
  virtual ~FieldWriter() = default;
  /// Adds rows [begin, begin + count) of `array` (as AdaptArray gives it); pages that are full go
  /// to `pages`.
  virtual arrow::Status Add(const arrow::ArrayData& array, int64_t begin, int64_t count,
                            PageSink* pages) = 0;
  /// Writes what is gathered.
  virtual arrow::Status Flush(PageSink* pages) = 0;
  /// The same when no rows follow.
  virtual arrow::Status Finish(PageSink* pages) { return Flush(pages); }
  virtual uint64_t pending_bytes() const = 0;
};

/// The writer of a field of version 2.1 or later: a column for each leaf. Borrows both arguments.
arrow::Result<std::unique_ptr<FieldWriter>> MakeFieldWriter(const Field& field,
                                                            const FieldWriteContext& context);

}  // namespace kinjo::format::file
