#include "io/scratch_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

namespace kinjo::io {

namespace {

arrow::Status SystemError(const char* what, const std::string& folder) {
  return base::Io("a scratch file in ", folder, " could not be ", what, ": ", std::strerror(errno));
}

}  // namespace

arrow::Result<std::unique_ptr<ScratchFile>> ScratchFile::Make(const Location& folder) {
  std::string place = folder.path;
  if (folder.file_system->type_name() != "local") {
    std::error_code error;
    place = std::filesystem::temp_directory_path(error).string();
    if (error) return base::Io("there is no folder for temporary files: ", error.message());
  }
  // Without a name from the start, so that nothing is left whatever happens; not every file system
  // can.
  const int nameless = open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (nameless >= 0) {
    return std::unique_ptr<ScratchFile>(new ScratchFile(nameless, place));
  }
  std::string name = place + "/.scratch-XXXXXX";
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) return SystemError("made", place);
  std::unique_ptr<ScratchFile> file(new ScratchFile(descriptor, place));
  if (unlink(name.c_str()) != 0) return SystemError("hidden", place);
  return file;
}

ScratchFile::~ScratchFile() { close(descriptor_); }

arrow::Status ScratchFile::Append(const uint8_t* data, int64_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(descriptor_, data, static_cast<size_t>(bytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("written", folder_);
    data += written;
    bytes -= written;
  }
  return arrow::Status::OK();
}

arrow::Status ScratchFile::Read(int64_t offset, int64_t bytes, uint8_t* out) const {
  while (bytes > 0) {
    const ssize_t read = pread(descriptor_, out, static_cast<size_t>(bytes), offset);
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return SystemError("read", folder_);
    if (read == 0) return base::Io("a scratch file in ", folder_, " ended early");
    out += read;
    offset += read;
    bytes -= read;
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::io
