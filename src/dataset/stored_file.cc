#include "dataset/stored_file.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "dataset/index_entry.h"
#include "io/file_info.h"

namespace kinjo::dataset {

arrow::Result<StoredFile> DescribeFile(Fragment* fragment, size_t number,
                                       const format::Schema& schema) {
  const format::DataFile& told = fragment->files()[number];
  const io::Location& location = fragment->file_location(number);
  StoredFile file;
  file.fragment_id = fragment->id();
  file.path = told.path;
  file.uri = location.uri;
  file.size_bytes = told.size_bytes;
  if (file.size_bytes == 0) {
    ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(location));
    file.size_bytes = static_cast<uint64_t>(std::max<int64_t>(info.size(), 0));
  }
  ARROW_ASSIGN_OR_RAISE(const auto opened, fragment->Open(number));
  file.format_version = base::Concat(opened->version().major, ".", opened->version().minor);
  std::map<uint32_t, std::string> names;
  for (const auto& [field_id, column] : told.columns) {
    std::string& name = names[column];
    if (name.empty()) name = PathOfField(schema.fields, field_id);
  }
  for (auto& [column, name] : names) {
    ARROW_ASSIGN_OR_RAISE(std::vector<std::string> pages, opened->DescribePages(column));
    file.columns.push_back({std::move(name), column, std::move(pages)});
  }
  return file;
}

}  // namespace kinjo::dataset
