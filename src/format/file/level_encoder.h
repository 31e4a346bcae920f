// Levels, written: one page's repetition or definition levels in pieces, each piece a block of its
// own (block_values.h reads them).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// The pieces one after another, and the bytes of each.
struct EncodedLevels {
  proto::CompressiveEncoding encoding;
  std::vector<uint8_t> bytes;
  std::vector<uint64_t> sizes;
};

/// Encodes pieces [firsts[i], firsts[i + 1]) of `levels`, none of which is above `highest`: as they
/// are, bit-packed or (with `may_use_runs`) as runs, whichever takes the fewest bytes.
EncodedLevels EncodeLevels(std::span<const uint16_t> levels, std::span<const uint64_t> firsts,
                           uint16_t highest, bool may_use_runs);

}  // namespace kinjo::format::file
