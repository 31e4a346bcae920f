// From what the user named (a file, a folder, a glob) to the files that make up the table.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::tabular {

/// One file of a table.
struct ListedFile {
  io::Location location;
  /// The path below the folder that was named, or below the glob's part without wildcards; folders
  /// of it may be partitions (key=value). For a single file: its name.
  std::string relative_path;
};

struct FileList {
  std::vector<ListedFile> files;  ///< sorted by relative path, bytewise
  bool is_single_file = false;    ///< the user named one file, and gets just that
};

/// A location whose last part may hold wildcards.
struct GlobLocation {
  io::Location base;
  std::string pattern;  ///< below `base`; empty = the base itself
};

/// Cuts a glob at the last '/' before its first wildcard. A name that exists as it stands is never
/// a glob. In `scheme://` addresses '?' begins the query and is no wildcard.
arrow::Result<GlobLocation> SplitGlob(const std::string& uri);

/// Lists the files. In folders and globs, hidden names (beginning with '_' or '.', or ending in
/// ".crc") are left out, unless they are partitions or the pattern itself names hidden ones; a
/// folder that matches a glob stands for all files below it. Missing: `not_found`; a folder without
/// files or a glob without matches: `not_found`.
arrow::Result<FileList> ListFiles(const GlobLocation& glob);

/// The format that a name's ending tells ("parquet", "arrow", "csv", "jsonl", "npy", "lance"), or
/// "".
std::string FormatOfName(const std::string& name);

}  // namespace kinjo::tabular
