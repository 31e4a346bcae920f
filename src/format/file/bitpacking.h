// FastLanes bit packing: 1024 unsigned values of T bits, W bits kept of each.
//
// The 1024 values lie in L = 1024 / T lanes of T rows; element (row, lane) has the index
// ORDER[row / 8] * 16 + (row % 8) * 128 + lane with ORDER = {0, 4, 2, 6, 1, 5, 3, 7}. Each lane
// owns a string of T * W bits in which its row r takes bits [r * W, r * W + W); bit b of the string
// is bit b mod T of word L * (b / T) + lane. So the words of all lanes at one row are neighbours,
// and one instruction moves many lanes.
#pragma once

#include <cstdint>

namespace kinjo::format::file {

inline constexpr uint64_t kPackedBlock = 1024;

/// Bytes of a packed block of 1024 values with `packed_bits` bits each.
constexpr uint64_t PackedBlockBytes(uint64_t packed_bits) { return kPackedBlock / 8 * packed_bits; }

/// Unpacks one block into 1024 values of `value_bits` bits at `out` (any alignment).
/// Requires: value_bits in {8, 16, 32, 64}, packed_bits <= value_bits,
/// PackedBlockBytes(packed_bits) readable bytes at `packed`.
void UnpackBlock(const uint8_t* packed, uint32_t value_bits, uint32_t packed_bits, uint8_t* out);

/// Packs one block: the way back of UnpackBlock. `values` holds 1024 values of `value_bits` bits
/// that need at most `packed_bits` each; writes PackedBlockBytes(packed_bits) bytes to `packed`.
void PackBlock(const uint8_t* values, uint32_t value_bits, uint32_t packed_bits, uint8_t* packed);

}  // namespace kinjo::format::file
