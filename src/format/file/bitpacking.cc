#include "format/file/bitpacking.h"

#include <cstring>

namespace kinjo::format::file {

namespace {

// Copies one row of lanes; memcpy keeps unaligned buffers legal and still compiles to vector moves.
template <typename T>
void UnpackRow(const uint8_t* packed, uint32_t packed_bits, uint32_t row, uint8_t* out) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  constexpr uint32_t kLanes = 1024 / kBits;
  const T mask = static_cast<T>((uint64_t{1} << packed_bits) - 1);
  const uint32_t first_bit = row * packed_bits;
  const uint32_t word = first_bit / kBits;
  const uint32_t shift = first_bit % kBits;
  T low[kLanes];
  std::memcpy(low, packed + size_t{word} * kLanes * sizeof(T), sizeof(low));
  if (shift + packed_bits <= kBits) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      low[lane] = static_cast<T>(low[lane] >> shift) & mask;
    }
  } else {
    T high[kLanes];
    std::memcpy(high, packed + size_t{word + 1} * kLanes * sizeof(T), sizeof(high));
    const uint32_t left = kBits - shift;  // in [1, kBits): the value crosses into the next word
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      low[lane] = (static_cast<T>(low[lane] >> shift) | static_cast<T>(high[lane] << left)) & mask;
    }
  }
  std::memcpy(out, low, sizeof(low));
}

template <typename T>
void Unpack(const uint8_t* packed, uint32_t packed_bits, uint8_t* out) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  constexpr uint32_t kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  for (uint32_t row = 0; row < kBits; ++row) {
    const size_t index = kOrder[row / 8] * 16 + (row % 8) * 128;
    uint8_t* target = out + index * sizeof(T);
    if (packed_bits == kBits) {
      // The mask above can't be built for the full width, and no bits need to move.
      constexpr size_t kRowBytes = 1024 / kBits * sizeof(T);
      std::memcpy(target, packed + row * kRowBytes, kRowBytes);
    } else {
      UnpackRow<T>(packed, packed_bits, row, target);
    }
  }
}

// Adds one row of lanes to the words that hold it; rows come in rising order onto zeroed words.
template <typename T>
void PackRow(const uint8_t* values, uint32_t packed_bits, uint32_t row, uint8_t* packed) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  constexpr uint32_t kLanes = 1024 / kBits;
  const uint32_t first_bit = row * packed_bits;
  const uint32_t shift = first_bit % kBits;
  T lanes[kLanes];
  std::memcpy(lanes, values, sizeof(lanes));
  uint8_t* low_at = packed + size_t{first_bit / kBits} * sizeof(lanes);
  T words[kLanes];
  std::memcpy(words, low_at, sizeof(words));
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    words[lane] = static_cast<T>(words[lane] | static_cast<T>(lanes[lane] << shift));
  }
  std::memcpy(low_at, words, sizeof(words));
  if (shift + packed_bits <= kBits) return;
  const uint32_t left = kBits - shift;
  for (uint32_t lane = 0; lane < kLanes; ++lane) words[lane] = static_cast<T>(lanes[lane] >> left);
  std::memcpy(low_at + sizeof(words), words, sizeof(words));
}

template <typename T>
void Pack(const uint8_t* values, uint32_t packed_bits, uint8_t* packed) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  constexpr uint32_t kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  std::memset(packed, 0, PackedBlockBytes(packed_bits));
  for (uint32_t row = 0; row < kBits; ++row) {
    const size_t index = kOrder[row / 8] * 16 + (row % 8) * 128;
    PackRow<T>(values + index * sizeof(T), packed_bits, row, packed);
  }
}

}  // namespace

void PackBlock(const uint8_t* values, uint32_t value_bits, uint32_t packed_bits, uint8_t* packed) {
  if (packed_bits == 0) return;
  switch (value_bits) {
    case 8:
      return Pack<uint8_t>(values, packed_bits, packed);
    case 16:
      return Pack<uint16_t>(values, packed_bits, packed);
    case 32:
      return Pack<uint32_t>(values, packed_bits, packed);
    default:
      return Pack<uint64_t>(values, packed_bits, packed);
  }
}

void UnpackBlock(const uint8_t* packed, uint32_t value_bits, uint32_t packed_bits, uint8_t* out) {
  if (packed_bits == 0) {
    std::memset(out, 0, kPackedBlock * (value_bits / 8));
    return;
  }
  switch (value_bits) {
    case 8:
      return Unpack<uint8_t>(packed, packed_bits, out);
    case 16:
      return Unpack<uint16_t>(packed, packed_bits, out);
    case 32:
      return Unpack<uint32_t>(packed, packed_bits, out);
    default:
      return Unpack<uint64_t>(packed, packed_bits, out);
  }
}

}  // namespace kinjo::format::file
