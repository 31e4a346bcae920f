// Bytes that don't fit in memory for as long as a build runs. The file has no name, so it is gone
// with the process, however that ends.
#pragma once

#include <cstdint>
#include <memory>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::io {

/// Written at its end, read anywhere. One thread.
class ScratchFile {
 public:
  /// On the disk of `folder`, which is there; of one in an object store, in the system's folder for
  /// temporary files (TMPDIR).
  static arrow::Result<std::unique_ptr<ScratchFile>> Make(const Location& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  arrow::Status Append(const uint8_t* data, int64_t bytes);
  /// Reads bytes that were appended.
  arrow::Status Read(int64_t offset, int64_t bytes, uint8_t* out) const;

 private:
  ScratchFile(int descriptor, std::string folder)
      : descriptor_(descriptor), folder_(std::move(folder)) {}

  const int descriptor_;
  const std::string folder_;  ///< for messages
};

}  // namespace kinjo::io
