#include "format/index_file/btree_file.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "format/index_file/scalar_columns.h"

namespace kinjo::format {
namespace {

constexpr const char* kLookupFile = "page_lookup.lance";
constexpr const char* kDataFile = "page_data.lance";
constexpr const char* kPageRows = "batch_size";
constexpr const char* kRangePartitioned = "range_partitioned";

/// Rows of a page, as the lookup file's metadata tells.
arrow::Result<uint64_t> PageRows(const LanceFile& lookup) {
  const auto& metadata = lookup.schema().metadata;
  const auto partitioned = metadata.find(kRangePartitioned);
  if (partitioned != metadata.end() && partitioned->second == "true") {
    return base::NotSupported("The B-tree index ", lookup.path(),
                              " is cut into ranges, which this build doesn't read");
  }
  const auto text = metadata.find(kPageRows);
  uint64_t rows = 0;
  if (text != metadata.end()) {
    const char* end = text->second.data() + text->second.size();
    const auto parsed = std::from_chars(text->second.data(), end, rows);
    if (parsed.ec != std::errc() || parsed.ptr != end) rows = 0;
  }
  if (rows == 0) {
    return base::Corrupt(lookup.path(), 0, "The B-tree index doesn't tell the rows of a page (`",
                         kPageRows, "`)");
  }
  return rows;
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadWhole(LanceFile* file, const Field& field) {
  const RowRange all{0, file->num_rows()};
  return ReadScalarColumn(file, field, {&all, 1});
}

/// A column of the lookup file that holds no null: numbers of pages, counts.
arrow::Result<std::shared_ptr<arrow::UInt32Array>> ReadNumbers(LanceFile* file, const char* name) {
  ARROW_ASSIGN_OR_RAISE(const Field* field, FindScalarColumn(*file, name, arrow::uint32()));
  ARROW_ASSIGN_OR_RAISE(const auto array, ReadWhole(file, *field));
  if (array->null_count() != 0) {
    return base::Corrupt(file->path(), 0, "Column `", name, "` of the index file holds nulls");
  }
  return std::static_pointer_cast<arrow::UInt32Array>(array);
}

}  // namespace

arrow::Status BtreeFile::ReadLookup(LanceFile* lookup) {
  ARROW_ASSIGN_OR_RAISE(const uint64_t page_rows, PageRows(*lookup));
  ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(*values_));
  ARROW_ASSIGN_OR_RAISE(const Field* minimum, FindScalarColumn(*lookup, "min", type));
  ARROW_ASSIGN_OR_RAISE(const Field* maximum, FindScalarColumn(*lookup, "max", type));
  ARROW_ASSIGN_OR_RAISE(minimums_, ReadWhole(lookup, *minimum));
  ARROW_ASSIGN_OR_RAISE(maximums_, ReadWhole(lookup, *maximum));
  ARROW_ASSIGN_OR_RAISE(const auto nulls, ReadNumbers(lookup, "null_count"));
  ARROW_ASSIGN_OR_RAISE(const auto numbers, ReadNumbers(lookup, "page_idx"));
  const uint64_t rows = data_->num_rows();
  const uint64_t pages = rows / page_rows + (rows % page_rows == 0 ? 0 : 1);
  if (lookup->num_rows() != pages) {
    return base::Corrupt(lookup->path(), 0, "The B-tree index lists ", lookup->num_rows(),
                         " pages, its ", rows, " rows take ", pages);
  }
  for (uint64_t i = 0; i < pages; ++i) {
    if (numbers->Value(static_cast<int64_t>(i)) != i) {
      return base::Corrupt(lookup->path(), 0, "The B-tree index lists page ",
                           numbers->Value(static_cast<int64_t>(i)), " as number ", i);
    }
    const uint64_t begin = i * page_rows;
    pages_.push_back({.rows = {begin, begin + std::min(page_rows, rows - begin)},
                      .null_count = nulls->Value(static_cast<int64_t>(i))});
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<BtreeFile>> BtreeFile::Assemble(
    const std::shared_ptr<LanceFile>& lookup, std::shared_ptr<LanceFile> data) {
  std::shared_ptr<BtreeFile> file(new BtreeFile());
  file->data_ = std::move(data);
  ARROW_ASSIGN_OR_RAISE(file->values_, FindScalarColumn(*file->data_, "values", nullptr));
  ARROW_ASSIGN_OR_RAISE(file->row_ids_, FindScalarColumn(*file->data_, "ids", arrow::uint64()));
  ARROW_RETURN_NOT_OK(file->ReadLookup(lookup.get()));
  return file;
}

arrow::Result<std::shared_ptr<BtreeFile>> BtreeFile::Open(
    const io::Location& directory, const std::shared_ptr<io::IoCounters>& counters) {
  ARROW_ASSIGN_OR_RAISE(const auto lookup, OpenScalarFile(directory, kLookupFile, counters));
  ARROW_ASSIGN_OR_RAISE(auto data, OpenScalarFile(directory, kDataFile, counters));
  return Assemble(lookup, std::move(data));
}

arrow::Result<BtreeRows> BtreeFile::Read(RowRange rows) const {
  BtreeRows out;
  ARROW_ASSIGN_OR_RAISE(out.values, ReadScalarColumn(data_.get(), *values_, {&rows, 1}));
  ARROW_ASSIGN_OR_RAISE(const auto ids, ReadScalarColumn(data_.get(), *row_ids_, {&rows, 1}));
  if (ids->null_count() != 0) {
    return base::Corrupt(data_->path(), 0, "The B-tree index holds null row ids in rows ",
                         rows.begin, " to ", rows.end);
  }
  out.row_ids = std::static_pointer_cast<arrow::UInt64Array>(ids);
  return out;
}

}  // namespace kinjo::format
