// Decoded values on their way from an encoding to the output: where they lie and how to step
// through them. What needs no decoding stays where it was read.
#pragma once

#include <cstdint>
#include <vector>

#include "format/file/bytes.h"

namespace kinjo::format::file {

/// A run of values. Borrows: from the buffer that was read, or from a Scratch.
///
/// Fixed width: value i is the bits [i * bits_per_value, (i + 1) * bits_per_value) of `values`.
/// Variable width: value i is bytes[offset(i), offset(i + 1)); offsets are checked.
struct ValueBlock {
  /// Validity of the items of one fixed-size-list level.
  struct ItemValidity {
    uint64_t items_per_value = 0;   ///< bits that one value owns
    const uint8_t* bits = nullptr;  ///< null: all valid
  };

  uint64_t num_values = 0;
  bool variable = false;
  // Fixed width.
  const uint8_t* values = nullptr;
  uint64_t bits_per_value = 0;
  std::vector<ItemValidity> item_validity;  ///< one a fixed-size-list level, outermost first
  // Variable width.
  const uint8_t* bytes = nullptr;
  const uint8_t* offsets = nullptr;  ///< num_values + 1 numbers
  uint32_t offset_width = 0;         ///< 4 or 8

  uint64_t offset(uint64_t i) const {
    return LoadUnsigned(offsets + i * offset_width, offset_width);
  }

  void SetFixed(const uint8_t* data, uint64_t bits, uint64_t count) {
    *this = ValueBlock{};
    values = data;
    bits_per_value = bits;
    num_values = count;
  }
  void SetVariable(const uint8_t* data, const uint8_t* first_offset, uint32_t width,
                   uint64_t count) {
    *this = ValueBlock{};
    variable = true;
    bytes = data;
    offsets = first_offset;
    offset_width = width;
    num_values = count;
  }
};

/// Checks that `count` + 1 offsets of `width` bytes rise and end within `size`.
inline bool OffsetsAreSound(const uint8_t* offsets, uint32_t width, uint64_t count, uint64_t size) {
  uint64_t previous = LoadUnsigned(offsets, width);
  bool sound = true;
  for (uint64_t i = 1; i <= count; ++i) {
    const uint64_t next = LoadUnsigned(offsets + i * width, width);
    sound &= next >= previous;
    previous = next;
  }
  return sound && previous <= size;
}

}  // namespace kinjo::format::file
