// One file of a table: what each format implements. Everything that isn't about a format (which
// files, one schema for all, partition columns, ordinals across files) lives above, in
// table_files.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "arrow/filesystem/filesystem.h"
#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::tabular {

/// A file that was looked at: its schema is known, no row is in memory. Immutable, so that it can
/// be read again and again. Holds no open file between calls.
class TableFile {
 public:
  virtual ~TableFile() = default;

  /// Where it is, for messages.
  virtual const std::string& uri() const = 0;
  virtual const std::shared_ptr<arrow::Schema>& schema() const = 0;
  /// Rows, when the file says so.
  virtual std::optional<int64_t> num_rows() const = 0;

  /// Streams columns in row order. `fields` are columns of this file; their types may be wider than
  /// the file's own where the format guesses types (a folder of CSV files has one schema). The
  /// batches hold at least these columns, in any order, and any number of rows.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const arrow::FieldVector& fields, int64_t batch_rows) = 0;

  /// Reads the rows with these ordinals (rising, no duplicates) of the file; the batch has exactly
  /// these fields. Unless a format knows better this reads the file from its start.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const arrow::FieldVector& fields, std::span<const uint64_t> ordinals);
};

/// Looks at one file. `missing` or unreadable files and bytes that aren't of the format are errors
/// that name the file.
using OpenTableFile = std::function<arrow::Result<std::shared_ptr<TableFile>>(const io::Location&)>;

/// The columns of `batch` that `fields` name, in that order. A column that isn't there, or has
/// another type, is an `internal` error: formats give what they were asked for.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectFields(const arrow::RecordBatch& batch,
                                                                const arrow::FieldVector& fields);

/// Collects the rows with rising `ordinals` from a stream whose first row has the ordinal
/// `first_row`. The ordinals must all be in the stream.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> TakeFromStream(
    arrow::RecordBatchReader* reader, const arrow::FieldVector& fields,
    std::span<const uint64_t> ordinals, uint64_t first_row);

/// One batch out of many of the same schema; no batch gives an empty one.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    std::shared_ptr<arrow::Schema> schema, const arrow::RecordBatchVector& batches);

/// Opens a file for reading; missing is `not_found`, all else `io`.
arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenInput(const io::Location& file);

/// What Arrow said while it read `uri`, with our code and the file's name: bytes that contradict
/// the format become `bad_bytes` (`corrupt`, or `invalid` for text that people write), what the
/// system refused stays `io`. A status that has our code already is left alone.
arrow::Status FileError(const arrow::Status& status, const std::string& uri,
                        base::ErrorCode bad_bytes);

/// A reader over a file that passes every error through FileError and keeps `owner` (what the
/// inner reader borrows from) alive.
std::shared_ptr<arrow::RecordBatchReader> NameErrors(
    std::shared_ptr<arrow::RecordBatchReader> reader, std::shared_ptr<void> owner, std::string uri,
    base::ErrorCode bad_bytes);

}  // namespace kinjo::tabular
