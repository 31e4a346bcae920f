#include "dataset/fragment.h"

#include <utility>
#include <vector>

#include "dataset/column_parts.h"
#include "format/schema.h"
#include "format/table/dead_rows.h"

namespace kinjo::dataset {
arrow::Result<std::unique_ptr<Fragment>> Fragment::Make(
    format::Fragment fragment, const BaseLocations& locations,
    std::shared_ptr<io::IoCounters> counters, std::shared_ptr<format::PageCache> page_cache) {
  std::unique_ptr<Fragment> result(
      new Fragment(std::move(fragment), std::move(counters), std::move(page_cache)));
  const format::Fragment& info = result->fragment_;
  for (size_t i = 0; i < info.files.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(result->open_files_[i].location, locations.DataFile(info.files[i]));
  }
  // A count that the writer left out reads as 0: rows must not vanish over that.
  if (info.physical_rows == 0 && !info.files.empty()) {
    ARROW_RETURN_NOT_OK(result->Open(0).status());
  }
  if (!info.deletion_file.has_value()) return result;
  const format::DeletionFile& deletions = *info.deletion_file;
  ARROW_ASSIGN_OR_RAISE(const io::Location location, locations.DeletionFile(deletions));
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<io::RandomReader> reader,
                        io::OpenFile(location, 0, result->counters_));
  ARROW_ASSIGN_OR_RAISE(result->dead_,
                        format::ReadDeletionFile(reader.get(), deletions.type, info.physical_rows));
  const uint64_t listed = result->dead_.count();
  if (deletions.num_deleted_rows != 0 && deletions.num_deleted_rows != listed) {
    return base::Corrupt(location.uri, 0, "the deletion file lists ", listed,
                         " rows, the manifest says ", deletions.num_deleted_rows);
  }
  return result;
}

arrow::Result<std::shared_ptr<format::LanceFile>> Fragment::Open(size_t number) {
  OpenFile& entry = open_files_[number];
  const std::lock_guard<std::mutex> lock(entry.mutex);
  if (entry.file != nullptr) return entry.file;
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<io::RandomReader> reader,
      io::OpenFile(entry.location, fragment_.files[number].size_bytes, counters_));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<format::LanceFile> file,
                        format::LanceFile::Open(std::move(reader), page_cache_));
  if (file->num_rows() != fragment_.physical_rows) {
    return base::Corrupt(entry.location.uri, 0, "the data file has ", file->num_rows(),
                         " rows, the manifest says ", fragment_.physical_rows);
  }
  entry.file = file;
  return file;
}

arrow::Result<std::shared_ptr<arrow::Array>> Fragment::ReadColumn(
    const format::Field& field, std::span<const format::RowRange> ranges,
    format::PagesAtHand* at_hand) {
  std::vector<ColumnPart> parts;
  for (size_t i = 0; i < fragment_.files.size(); ++i) {
    const format::ColumnMap& columns = fragment_.files[i].columns;
    if (!HoldsAny(columns, field)) continue;
    ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<format::LanceFile> file, Open(i));
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> array,
                          file->ReadRowsInTurn(field, columns, ranges, at_hand));
    parts.push_back({&columns, std::move(array), &open_files_[i].location.uri});
  }
  if (parts.size() == 1) return std::move(parts.front().array);
  if (!parts.empty()) return JoinParts(field, parts);
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::DataType> type, format::ToArrowType(field));
  uint64_t rows = 0;
  for (const format::RowRange& range : ranges) rows += range.end - range.begin;
  return arrow::MakeArrayOfNull(type, static_cast<int64_t>(rows));
}

}  // namespace kinjo::dataset
