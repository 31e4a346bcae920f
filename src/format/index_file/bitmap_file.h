// The file of one bitmap segment (bitmap_page_lookup.lance): each distinct value with the set of
// its row ids. docs/format/index-file.md has the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "arrow/array/array_binary.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/index_file/row_id_map.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// An open segment. Immutable; thread-safe.
class BitmapFile {
 public:
  /// `directory` is `_indices/<uuid>`.
  static arrow::Result<std::shared_ptr<BitmapFile>> Open(
      const io::Location& directory, const std::shared_ptr<io::IoCounters>& counters);
  /// The same over the file already opened.
  static arrow::Result<std::shared_ptr<BitmapFile>> Assemble(std::shared_ptr<LanceFile> file);

  /// Of the keys.
  const std::shared_ptr<arrow::DataType>& type() const { return type_; }
  uint64_t num_keys() const { return file_->num_rows(); }

  /// Keys in no particular order; one is null when the column has nulls.
  arrow::Result<std::shared_ptr<arrow::Array>> ReadKeys(RowRange keys) const;
  /// The stored sets of single keys, none null: `keys` is rising and has no duplicates.
  arrow::Result<std::shared_ptr<arrow::BinaryArray>> ReadSets(std::span<const uint64_t> keys) const;
  /// The row ids of one of them.
  arrow::Result<std::vector<RowIdGroup>> ParseSet(std::string_view stored) const {
    return ParseRowIdMap(stored, file_->path());
  }

 private:
  BitmapFile() = default;

  std::shared_ptr<LanceFile> file_;
  const Field* keys_ = nullptr;  // both point into the schema of file_
  const Field* bitmaps_ = nullptr;
  std::shared_ptr<arrow::DataType> type_;
};

}  // namespace kinjo::format
