// Which features of a dataset stop a reader that doesn't know them.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace kinjo::format {

// Bits of Manifest.reader_feature_flags and writer_feature_flags that readers or writers act on.
inline constexpr uint64_t kDeletionFilesFlag = uint64_t{1} << 0;
inline constexpr uint64_t kStableRowIdsFlag = uint64_t{1} << 1;
inline constexpr uint64_t kVersion2FilesFlag = uint64_t{1} << 2;
inline constexpr uint64_t kTableConfigFlag = uint64_t{1} << 3;
inline constexpr uint64_t kBasePathsFlag = uint64_t{1} << 4;
inline constexpr uint64_t kNoTransactionFilesFlag = uint64_t{1} << 5;
inline constexpr uint64_t kTaggedFragmentReuseFlag = uint64_t{1} << 10;

/// OK when this build reads data with these flags; else `not_supported`, naming the lowest bit that
/// it doesn't know. `path` is the manifest.
arrow::Status CheckReaderFlags(uint64_t flags, const std::string& path);

/// The same for writing, with Manifest.writer_feature_flags.
arrow::Status CheckWriterFlags(uint64_t flags, const std::string& path);

}  // namespace kinjo::format
