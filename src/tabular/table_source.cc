// Finds out what a name stands for: which files, of which format, or a Lance dataset.
#include "tabular/table_source.h"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "tabular/file_list.h"
#include "tabular/parquet_file.h"
#include "tabular/table_files.h"

namespace kinjo::tabular {

namespace {

constexpr std::string_view kFormats = "parquet, arrow, csv, jsonl, npy or lance";

arrow::Result<FileFormat> FindFormat(const std::string& name) {
  if (name == "parquet") return FileFormat{name, OpenParquetFile};
  return base::Invalid("format is \"", name, "\"; it must be ", kFormats);
}

// The format of the files that the endings tell, and only those files: a README beside the data is
// no data. With a format given, files of another known format are left out.
arrow::Result<std::string> ChooseFiles(const std::string& uri, const std::string& asked,
                                       FileList* list) {
  if (list->is_single_file) {
    const std::string format = asked.empty() ? FormatOfName(list->files[0].relative_path) : asked;
    if (!format.empty()) return format;
    return base::Invalid("can't tell the format of ", uri, " from its name; give it: ", kFormats);
  }
  std::set<std::string> found;
  for (const ListedFile& file : list->files) found.insert(FormatOfName(file.relative_path));
  found.erase("");
  if (asked.empty() && found.size() != 1) {
    std::string names;
    for (const std::string& name : found) names += (names.empty() ? "" : " and ") + name;
    return base::Invalid(
        "can't tell the format of ", uri, ": ",
        found.empty() ? "no file in it has a known ending" : "it holds " + names + " files",
        "; give it: ", kFormats);
  }
  const std::string format = asked.empty() ? *found.begin() : asked;
  const bool has_endings = found.count(format) > 0;
  std::erase_if(list->files, [&](const ListedFile& file) {
    const std::string of_name = FormatOfName(file.relative_path);
    return of_name != format && (has_endings || !of_name.empty());
  });
  if (list->files.empty()) return base::NotFound("no ", format, " file in ", uri);
  return format;
}

arrow::Status CheckOptions(const SourceOptions& options) {
  constexpr int64_t kMaxBatchRows = 1 << 24;
  if (options.batch_rows < 1 || options.batch_rows > kMaxBatchRows) {
    return base::Invalid("batch_rows is ", options.batch_rows, "; it must be from 1 to ",
                         kMaxBatchRows);
  }
  if (!options.format.empty()) return FindFormat(options.format).status();
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<std::shared_ptr<TableSource>> OpenTable(const std::string& uri,
                                                      const SourceOptions& options) {
  ARROW_RETURN_NOT_OK(CheckOptions(options));
  ARROW_ASSIGN_OR_RAISE(const GlobLocation glob, SplitGlob(uri));
  ARROW_ASSIGN_OR_RAISE(FileList list, ListFiles(glob));
  ARROW_ASSIGN_OR_RAISE(const std::string name, ChooseFiles(uri, options.format, &list));
  ARROW_ASSIGN_OR_RAISE(FileFormat format, FindFormat(name));
  return OpenTableFiles(uri, std::move(list), std::move(format), options.batch_rows);
}

}  // namespace kinjo::tabular
