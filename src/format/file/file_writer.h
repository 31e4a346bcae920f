// One Lance data file (versions 2.2, 2.1, 2.0), written front to back: pages as they fill, then the
// descriptor, the columns' metadata and the footer. docs/format/data-file.md has the bytes and says
// how encodings are chosen; LanceFile (lance_file.h) reads what this writes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrow/buffer.h"
#include "arrow/io/interfaces.h"
#include "arrow/record_batch.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/schema.h"

namespace kinjo::format {

struct FileWriteOptions {
  FileVersion version = {2, 2};  ///< 2.0, 2.1 or 2.2
  /// A page is written once a column has gathered this many bytes (1 GiB at most); one never has
  /// many more, unless a few rows do.
  uint64_t page_bytes = uint64_t{8} << 20;
  std::string path;  ///< the file's name in messages
};

/// What a finished file is, as a manifest tells it.
struct WrittenFile {
  uint64_t num_rows = 0;
  uint64_t size_bytes = 0;
  ColumnMap columns;  ///< field id -> column number
  FileVersion version;
};

/// Writes one file. Not thread-safe. The stream must stand at its beginning; the writer neither
/// flushes nor closes it. Rows wait in memory until their column has a page full, so at most
/// page_bytes a column and one batch are held. After an error the file is of no use, and every
/// further call fails.
class FileWriter {
 public:
  /// `not_supported` names the field that this version of the format can't store (the types that
  /// Lance itself doesn't write); field ids and metadata of `schema` go into the descriptor.
  static arrow::Result<std::unique_ptr<FileWriter>> Make(
      std::shared_ptr<arrow::io::OutputStream> out, const Schema& schema,
      const FileWriteOptions& options);
  virtual ~FileWriter() = default;

  /// Adds rows. Column i of `batch` is field i of the schema, of the type that ToArrowType gives;
  /// names are not compared. Extension types count as their storage, string and binary views as
  /// plain ones. A null in a field that isn't nullable is `invalid`.
  virtual arrow::Status Write(const arrow::RecordBatch& batch) = 0;

  /// Writes an application's buffer now and returns its number (the descriptor has number 0).
  virtual arrow::Result<uint32_t> AddGlobalBuffer(const arrow::Buffer& buffer) = 0;

  /// Sets an entry of the schema's metadata, until Finish.
  virtual arrow::Status SetMetadata(const std::string& key, const std::string& value) = 0;

  /// Bytes of rows that wait for their page to fill.
  virtual uint64_t pending_bytes() const = 0;

  /// Writes what is left, the tables and the footer. Call it once.
  virtual arrow::Result<WrittenFile> Finish() = 0;
};

}  // namespace kinjo::format
