// Numbers of 8, 16, 32 or 64 bits in mini-blocks: flat, bit-packed or as runs, whichever takes the
// fewest bytes for the page.
#pragma once

#include <algorithm>
#include <cstdint>

#include "format/file/mini_values_encoder.h"
#include "format/file/value_block.h"

namespace kinjo::format::file {

/// What the three encodings of a page's words take, chunks' headers included.
struct WordCosts {
  uint64_t flat = 0;
  uint64_t packed = 0;
  uint64_t runs = 0;

  uint64_t least() const { return std::min(flat, std::min(packed, runs)); }
};

/// Words have whole widths: 8, 16, 32 or 64 bits.
constexpr bool IsWordWidth(uint64_t bits) {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

/// Requires: values of one of those widths, not fixed-size lists.
WordCosts CostsOfWords(const ValueBlock& block, uint64_t most_slots);

/// Encodes the words; `most_slots` as EncodeMiniValues has it.
MiniValues EncodeWords(const ValueBlock& block, const WordCosts& costs, uint64_t most_slots);

}  // namespace kinjo::format::file
