// Changes to a dataset's folder: new files, files that nobody may have put there before, files
// replaced whole, files removed. What is told to be there is there whole, and stays after a power
// cut; what fails leaves nothing but a hidden file beside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arrow/io/interfaces.h"
#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::io {

// Local file systems and s3:// only: another one is `not_supported`. Errors of the system are `io`,
// name the address and give its reason. An object store has no folders: they need no making.

/// OK where this build writes, local disks and S3; else `not_supported`.
arrow::Status CheckWritable(const Location& location);

/// Makes a folder and those above it. One that is there already is fine.
arrow::Status MakeFolder(const Location& folder);

/// Makes a file that isn't there yet, for bytes that come one after another. Close() writes out,
/// syncs file and folder, and only then tells success; Abort(), or dropping the stream before,
/// takes the file away. One thread.
arrow::Result<std::shared_ptr<arrow::io::OutputStream>> CreateFile(const Location& location);

/// Puts a file in place unless there is one: true when these bytes are there now, false when the
/// name was taken. Readers see the whole file or none. Of writers at the same time one wins. An
/// error means that it isn't there, unless IsInDoubt() says otherwise. Isn't cancelled half-way.
arrow::Result<bool> PutIfAbsent(const Location& location, std::string_view bytes);

/// True of the error of a PutIfAbsent that may have put the file, or may yet: the store took the
/// request, didn't tell what came of it, and couldn't be asked. What the file names must stay.
bool IsInDoubt(const arrow::Status& status);

/// Puts a file in place of the one that is there, or where none is. Readers see either whole.
arrow::Status ReplaceFile(const Location& location, std::string_view bytes);

/// Removes a file. One that isn't there is fine.
arrow::Status RemoveFile(const Location& location);

/// Removes a folder that has nothing in it. One that isn't there, or isn't empty, is fine.
arrow::Status RemoveEmptyFolder(const Location& folder);

/// One file below a folder.
struct FoundFile {
  std::string name;  ///< relative to the folder, with slashes
  uint64_t size_bytes = 0;
  int64_t modified_s = 0;  ///< since the epoch
};
/// All files below a folder, sorted by name; those of its folders too. A folder that isn't there
/// has none.
arrow::Result<std::vector<FoundFile>> ListFiles(const Location& folder);

}  // namespace kinjo::io
