// Finds out what a name stands for: which files, of which format, or a Lance dataset.
#include "tabular/table_source.h"

#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "io/file_info.h"
#include "tabular/arrow_file.h"
#include "tabular/csv_file.h"
#include "tabular/file_list.h"
#include "tabular/jsonl_file.h"
#include "tabular/lance_source.h"
#include "tabular/npy_file.h"
#include "tabular/parquet_file.h"
#include "tabular/table_files.h"
#include "tabular/vecs_file.h"

namespace kinjo::tabular {

namespace {

constexpr std::string_view kEndings =
    ".parquet, .arrow, .csv, .jsonl, .npy, .fvecs, .bvecs or .ivecs";
constexpr std::string_view kFormats =
    "parquet, arrow, csv, jsonl, npy, fvecs, bvecs, ivecs or lance";

arrow::Result<FileFormat> FindFormat(const std::string& name) {
  if (name == "parquet") return FileFormat{name, OpenParquetFile};
  if (name == "arrow") return FileFormat{name, OpenArrowFile};
  if (name == "csv") return FileFormat{name, OpenCsvFile, /*guesses_types=*/true};
  if (name == "jsonl") return FileFormat{name, OpenJsonlFile, /*guesses_types=*/true};
  if (name == "npy") return FileFormat{name, OpenNpyFile};
  if (name == "fvecs") return FileFormat{name, OpenFvecsFile};
  if (name == "bvecs") return FileFormat{name, OpenBvecsFile};
  if (name == "ivecs") return FileFormat{name, OpenIvecsFile};
  if (name == "lance") {
    return base::Invalid("files that end in .lance are parts of a Lance dataset; name the dataset");
  }
  return base::Invalid("format is \"", name, "\"; it must be ", kFormats);
}

// The format of the files that the endings tell, and only those files: a README beside the data is
// no data. With a format given, files of another known format are left out.
arrow::Result<std::string> ChooseFiles(const std::string& uri, const std::string& asked,
                                       FileList* list) {
  if (list->is_single_file) {
    std::string format = asked.empty() ? FormatOfName(list->files[0].relative_path) : asked;
    if (!format.empty()) return format;
    return base::Invalid("can't tell the format of ", uri, " from its name; end the name in ",
                         kEndings);
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
        "; name those of one format by a pattern like ", uri, "/*.parquet");
  }
  std::string format = asked.empty() ? *found.begin() : asked;
  const bool has_endings = found.count(format) > 0;
  std::erase_if(list->files, [&](const ListedFile& file) {
    const std::string of_name = FormatOfName(file.relative_path);
    return of_name != format && (has_endings || !of_name.empty());
  });
  if (list->files.empty()) return base::NotFound("no ", format, " file in ", uri);
  return format;
}

// A Lance dataset is a folder: one that is called so, or that has versions in it.
arrow::Result<bool> IsLanceDataset(const GlobLocation& glob, const SourceOptions& options) {
  if (!options.format.empty()) return options.format == "lance";
  if (!glob.pattern.empty()) return false;
  if (FormatOfName(glob.base.path) == "lance") return true;
  const io::Location versions = io::Child(glob.base, "_versions");
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(versions));
  return info.type() == arrow::fs::FileType::Directory;
}

arrow::Status CheckOptions(const SourceOptions& options) {
  constexpr int64_t kMaxBatchRows = 1 << 24;
  if (options.batch_rows < 1 || options.batch_rows > kMaxBatchRows) {
    return base::Invalid("batch_rows is ", options.batch_rows, "; it must be from 1 to ",
                         kMaxBatchRows);
  }
  if (options.format.empty() || options.format == "lance") return arrow::Status::OK();
  return FindFormat(options.format).status();
}

}  // namespace

arrow::Result<std::vector<Trait>> TableSource::Identity() const {
  return base::Invalid(uri(), " is a ", format(),
                       " that is gone with this process, so that no later run could go on with it; "
                       "write it to a file first");
}

arrow::Result<std::shared_ptr<TableSource>> OpenTable(const std::string& uri,
                                                      const SourceOptions& options) {
  ARROW_RETURN_NOT_OK(CheckOptions(options));
  ARROW_ASSIGN_OR_RAISE(const GlobLocation glob, SplitGlob(uri));
  ARROW_ASSIGN_OR_RAISE(const bool is_lance, IsLanceDataset(glob, options));
  if (is_lance) return OpenLanceTable(uri, options.lance_version, options.batch_rows);
  if (options.lance_version.has_value()) {
    return base::Invalid("version ", *options.lance_version, " was asked for, but ", uri,
                         " is not a Lance dataset");
  }
  ARROW_ASSIGN_OR_RAISE(FileList list, ListFiles(glob));
  ARROW_ASSIGN_OR_RAISE(const std::string name, ChooseFiles(uri, options.format, &list));
  ARROW_ASSIGN_OR_RAISE(FileFormat format, FindFormat(name));
  return OpenTableFiles(uri, list, std::move(format), options.batch_rows);
}

}  // namespace kinjo::tabular
