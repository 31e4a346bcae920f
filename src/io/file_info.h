// What lies at a place: asked of whatever file system it is on, with errors that name the place.
#pragma once

#include <string>

#include "arrow/filesystem/filesystem.h"
#include "io/random_reader.h"

namespace kinjo::io {

/// One file or folder; of a type NotFound when there is none.
arrow::Result<arrow::fs::FileInfo> LookAt(const Location& location);

/// What lies in a folder; with `depth` 2 also in its folders, and so on; -1: all that is below. A
/// folder that isn't there holds nothing.
arrow::Result<arrow::fs::FileInfoVector> ListFolder(const Location& folder, int depth = 1);

/// The error of a file system, told as "can't `doing` uri: ..."; one of ours tells that already.
arrow::Status NamePlace(const arrow::Status& status, const char* doing, const std::string& uri);

}  // namespace kinjo::io
