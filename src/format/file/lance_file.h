// One Lance data file (versions 2.0, 2.1, 2.2), opened for reading: container, descriptor, column
// pages. docs/format/data-file.md has the bytes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "base/error.h"
#include "format/file/page_cache.h"
#include "format/schema.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// Rows [begin, end) of a file, 0-based.
struct RowRange {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Field id -> number of the column that stores it in one file (DataFile.fields / column_indices).
using ColumnMap = std::unordered_map<int32_t, uint32_t>;

struct FileVersion {
  uint16_t major = 0;
  uint16_t minor = 0;
};

/// An open file. Immutable after Open; thread-safe. Column metadata is read once, when first asked
/// for.
class LanceFile {
 public:
  /// Reads the footer, the tables and the descriptor. Legacy (0.x) and 2.3 files are
  /// `not_supported`. What pages keep between reads lies in `cache`, which many files may share;
  /// null: the file has one of its own.
  static arrow::Result<std::shared_ptr<LanceFile>> Open(std::shared_ptr<io::RandomReader> reader,
                                                        std::shared_ptr<PageCache> cache = nullptr);
  virtual ~LanceFile() = default;

  virtual FileVersion version() const = 0;
  virtual uint64_t num_rows() const = 0;
  virtual uint32_t num_columns() const = 0;
  virtual const std::string& path() const = 0;
  /// The schema in the file's own descriptor, with its metadata.
  virtual const Schema& schema() const = 0;
  /// Where the fields of the file's own schema lie (index files have no manifest to say so).
  virtual const ColumnMap& own_columns() const = 0;

  virtual int num_global_buffers() const = 0;
  virtual arrow::Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(int number) = 0;

  /// Reads the given rows of one top-level field as one Arrow array of ToArrowType(field), in the
  /// order of `ranges`, which must be rising and must not overlap. Only the chunks (mini-block) or
  /// rows (full-zip) that hold these rows are read, in coalesced requests. A field that `columns`
  /// lacks reads as null.
  arrow::Result<std::shared_ptr<arrow::Array>> ReadRows(const Field& field,
                                                        const ColumnMap& columns,
                                                        std::span<const RowRange> ranges) {
    return ReadRowsInTurn(field, columns, ranges, nullptr);
  }
  /// The same as one of several reads, each behind the one before: page states that are too large
  /// for the cache are found in `at_hand` and held there, so that each is made once. Null: none.
  virtual arrow::Result<std::shared_ptr<arrow::Array>> ReadRowsInTurn(
      const Field& field, const ColumnMap& columns, std::span<const RowRange> ranges,
      PagesAtHand* at_hand) = 0;

  /// A short text of each page's encoding of one column, for `kinjo info --file` and for tests.
  virtual arrow::Result<std::vector<std::string>> DescribePages(uint32_t column) = 0;
};

}  // namespace kinjo::format
