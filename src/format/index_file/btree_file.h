// The two files of one B-tree segment (page_lookup.lance, page_data.lance): sorted values with
// their row ids, and the least and greatest value of each page. docs/format/index-file.md has the
// bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// Some rows of a B-tree: value i belongs to row id i.
struct BtreeRows {
  std::shared_ptr<arrow::Array> values;
  std::shared_ptr<arrow::UInt64Array> row_ids;  ///< without nulls
};

/// An open segment. Immutable; thread-safe.
class BtreeFile {
 public:
  /// `directory` is `_indices/<uuid>`.
  static arrow::Result<std::shared_ptr<BtreeFile>> Open(
      const io::Location& directory, const std::shared_ptr<io::IoCounters>& counters);
  /// The same over the two files already opened.
  static arrow::Result<std::shared_ptr<BtreeFile>> Assemble(
      const std::shared_ptr<LanceFile>& lookup, std::shared_ptr<LanceFile> data);

  /// Of the values.
  const std::shared_ptr<arrow::DataType>& type() const { return minimums_->type(); }

  /// Pages come in the order of their rows, and together hold every row.
  int64_t num_pages() const { return static_cast<int64_t>(pages_.size()); }
  RowRange page_rows(int64_t page) const { return pages_[static_cast<size_t>(page)].rows; }
  uint64_t null_count(int64_t page) const { return pages_[static_cast<size_t>(page)].null_count; }
  /// The first and the last value of each page, by Lance's order: nulls, then negative NaN, the
  /// numbers from the least on, then NaN. So a null or a NaN here says nothing about the numbers.
  const arrow::Array& minimums() const { return *minimums_; }
  const arrow::Array& maximums() const { return *maximums_; }

  /// Reads rows that lie in pages.
  arrow::Result<BtreeRows> Read(RowRange rows) const;

 private:
  struct Page {
    RowRange rows;
    uint64_t null_count = 0;
  };
  BtreeFile() = default;
  arrow::Status ReadLookup(LanceFile* lookup);

  std::shared_ptr<LanceFile> data_;
  const Field* values_ = nullptr;  // both point into the schema of data_
  const Field* row_ids_ = nullptr;
  std::vector<Page> pages_;
  std::shared_ptr<arrow::Array> minimums_;
  std::shared_ptr<arrow::Array> maximums_;
};

}  // namespace kinjo::format
