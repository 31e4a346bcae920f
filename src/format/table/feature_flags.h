// Which features of a dataset stop a reader that doesn't know them.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

namespace kinjo::format {

// Bits of Manifest.reader_feature_flags that a reader acts on.
inline constexpr uint64_t kStableRowIdsFlag = uint64_t{1} << 1;
inline constexpr uint64_t kTaggedFragmentReuseFlag = uint64_t{1} << 10;

/// OK when this build reads data with these flags; else `not_supported`, naming the lowest bit that
/// it doesn't know. `path` is the manifest.
arrow::Status CheckReaderFlags(uint64_t flags, const std::string& path);

}  // namespace kinjo::format
