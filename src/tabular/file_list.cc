#include "tabular/file_list.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "arrow/util/string.h"
#include "io/file_info.h"
#include "tabular/glob.h"

namespace kinjo::tabular {

namespace {

using arrow::fs::FileInfo;
using arrow::fs::FileType;

bool IsHidden(std::string_view segment) {
  if (segment.ends_with(".crc")) return true;
  const bool marked = segment.starts_with('_') || segment.starts_with('.');
  return marked && segment.find('=') == std::string_view::npos;
}

bool AnySegmentHidden(std::string_view path) {
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (IsHidden(path.substr(0, slash))) return true;
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return false;
}

// All entries below `base` down to `depth` levels (-1: all), as paths below it.
arrow::Result<std::vector<std::pair<std::string, FileType>>> Walk(const io::Location& base,
                                                                  int depth) {
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfoVector infos, io::ListFolder(base, depth));
  std::vector<std::pair<std::string, FileType>> entries;
  for (const FileInfo& info : infos) {
    std::string_view path = info.path();
    path.remove_prefix(std::min(path.size(), base.path.size()));
    while (path.starts_with('/')) path.remove_prefix(1);
    entries.emplace_back(path, info.type());
  }
  return entries;
}

arrow::Result<std::set<std::string>> FilesBelow(const io::Location& base) {
  ARROW_ASSIGN_OR_RAISE(auto entries, Walk(base, -1));
  std::set<std::string> files;
  for (const auto& [path, type] : entries) {
    if (type == FileType::File && !AnySegmentHidden(path)) files.insert(path);
  }
  return files;
}

arrow::Result<std::set<std::string>> FilesMatching(const io::Location& base,
                                                   const std::string& pattern) {
  ARROW_ASSIGN_OR_RAISE(auto entries, Walk(base, GlobDepth(pattern)));
  const bool wants_hidden = AnySegmentHidden(pattern);
  std::set<std::string> files;
  for (const auto& [path, type] : entries) {
    if (!wants_hidden && AnySegmentHidden(path)) continue;
    if (!GlobMatches(pattern, path)) continue;
    if (type == FileType::File) files.insert(path);
    if (type == FileType::Directory) {
      ARROW_ASSIGN_OR_RAISE(std::set<std::string> below, FilesBelow(io::Child(base, path)));
      for (const std::string& file : below) files.insert(base::Concat(path, "/", file));
    }
  }
  return files;
}

FileList MakeList(const io::Location& base, const std::set<std::string>& paths) {
  FileList list;
  for (const std::string& path : paths) list.files.push_back({io::Child(base, path), path});
  return list;
}

}  // namespace

arrow::Result<GlobLocation> SplitGlob(const std::string& uri) {
  const size_t scheme = uri.find("://");
  const bool is_plain = scheme == std::string::npos;
  const size_t query = is_plain ? std::string::npos : uri.find('?');
  const std::string path = uri.substr(0, query);
  const size_t wildcard = path.find_first_of(is_plain ? "*?[" : "*[");
  if (is_plain || wildcard == std::string::npos) {
    ARROW_ASSIGN_OR_RAISE(io::Location whole, io::ResolveUri(uri));
    if (wildcard == std::string::npos) return GlobLocation{std::move(whole), ""};
    ARROW_ASSIGN_OR_RAISE(const FileInfo info, io::LookAt(whole));
    if (info.type() != FileType::NotFound) return GlobLocation{std::move(whole), ""};
  }
  const size_t slash = path.rfind('/', wildcard);
  const size_t cut = slash == std::string::npos ? 0 : slash + 1;
  std::string base = slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
  if (!is_plain && slash < scheme + 3) {
    return base::Invalid("a wildcard can't stand for a bucket or host: ", uri);
  }
  if (query != std::string::npos) base += uri.substr(query);
  ARROW_ASSIGN_OR_RAISE(io::Location location, io::ResolveUri(base));
  return GlobLocation{std::move(location), path.substr(cut)};
}

arrow::Result<FileList> ListFiles(const GlobLocation& glob) {
  const io::Location& base = glob.base;
  ARROW_ASSIGN_OR_RAISE(const FileInfo info, io::LookAt(base));
  if (info.type() == FileType::NotFound) {
    return base::NotFound("no such file or folder: ", base.uri);
  }
  if (info.type() == FileType::Unknown) {
    return base::Invalid(base.uri,
                         " is a pipe or a device, and a table is read more than once; write it to "
                         "a file first");
  }
  if (glob.pattern.empty()) {
    if (info.type() != FileType::Directory) {
      FileList list;
      list.files.push_back({base, info.base_name()});
      list.is_single_file = true;
      return list;
    }
    ARROW_ASSIGN_OR_RAISE(std::set<std::string> files, FilesBelow(base));
    if (files.empty()) return base::NotFound("no data file in the folder ", base.uri);
    return MakeList(base, files);
  }
  std::set<std::string> files;
  if (info.type() == FileType::Directory) {
    ARROW_ASSIGN_OR_RAISE(files, FilesMatching(base, glob.pattern));
  }
  if (files.empty()) {
    return base::NotFound("nothing matches ", glob.pattern, " in ", base.uri);
  }
  return MakeList(base, files);
}

std::string FormatOfName(const std::string& name) {
  struct Ending {
    std::string_view text;
    std::string_view format;
  };
  static constexpr std::array<Ending, 16> kEndings = {{{".parquet", "parquet"},
                                                       {".parq", "parquet"},
                                                       {".pq", "parquet"},
                                                       {".arrow", "arrow"},
                                                       {".arrows", "arrow"},
                                                       {".feather", "arrow"},
                                                       {".ipc", "arrow"},
                                                       {".csv", "csv"},
                                                       {".jsonl", "jsonl"},
                                                       {".ndjson", "jsonl"},
                                                       {".json", "jsonl"},
                                                       {".npy", "npy"},
                                                       {".fvecs", "fvecs"},
                                                       {".bvecs", "bvecs"},
                                                       {".ivecs", "ivecs"},
                                                       {".lance", "lance"}}};
  const std::string lower = arrow::internal::AsciiToLower(name);
  for (const Ending& ending : kEndings) {
    if (lower.ends_with(ending.text)) return std::string(ending.format);
  }
  return {};
}

}  // namespace kinjo::tabular
