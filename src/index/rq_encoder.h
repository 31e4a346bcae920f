// RaBitQ codes written the slow way, bit by bit from the tables of docs/format/index-file.md, for
// tests: rows of whole codes (sign bit above the other bits) to the bytes of a partition.
#pragma once

#include <cstdint>
#include <vector>

namespace kinjo::index {

/// Where bit `bit` (0 = lowest) of element `i` lies in a block of 64 elements of `ex_bits` each, in
/// bits from the block's first byte on.
inline int64_t ExBitPlace(int ex_bits, int64_t i, int64_t bit) {
  const int64_t part = i / 16;
  const int64_t b = i % 16;
  const bool odd = ex_bits == 3 || ex_bits == 5 || ex_bits == 7;
  if (odd && bit == ex_bits - 1) {  // the top plane, after the other bits
    return 64 * (ex_bits - 1) + 8 * (b % 8) + 2 * part + b / 8;
  }
  switch (ex_bits - (odd ? 1 : 0)) {
    case 2:
      return 8 * b + 2 * part + bit;
    case 4:
      if (!odd) return 8 * (8 * part + b % 8) + 4 * (b / 8) + bit;
      return 8 * (16 * (part / 2) + b) + 4 * (part % 2) + bit;
    case 6:
      if (part < 3) return 8 * i + bit;
      return 8 * (16 * (bit / 2) + b) + 6 + bit % 2;
    default:  // 1 and 8
      return ex_bits * i + bit;
  }
}

inline void SetBit(int64_t place, std::vector<uint8_t>* bytes) {
  (*bytes)[place / 8] = static_cast<uint8_t>((*bytes)[place / 8] | 1 << (place % 8));
}

/// `codes` is [num_rows][dim] of ex_bits + 1 bits each. Rows of ex codes.
inline std::vector<uint8_t> EncodeExCodes(const std::vector<uint32_t>& codes, int64_t dim,
                                          int ex_bits) {
  const auto num_rows = static_cast<int64_t>(codes.size()) / dim;
  const int64_t row_bytes = (dim + 63) / 64 * 8 * ex_bits;
  std::vector<uint8_t> bytes(static_cast<size_t>(num_rows * row_bytes));
  for (int64_t row = 0; row < num_rows; ++row) {
    for (int64_t i = 0; i < dim; ++i) {
      for (int64_t bit = 0; bit < ex_bits; ++bit) {
        if ((codes[row * dim + i] >> bit & 1) == 0) continue;
        const int64_t block = row * row_bytes + i / 64 * 8 * ex_bits;
        SetBit(8 * block + ExBitPlace(ex_bits, i % 64, bit), &bytes);
      }
    }
  }
  return bytes;
}

/// The top bits of the same codes.
inline std::vector<uint8_t> EncodeSigns(const std::vector<uint32_t>& codes, int64_t dim,
                                        int ex_bits, bool packed) {
  constexpr int64_t kOrder[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const auto num_rows = static_cast<int64_t>(codes.size()) / dim;
  const int64_t row_bytes = dim / 8;
  std::vector<uint8_t> plain(static_cast<size_t>(num_rows * row_bytes));
  for (int64_t i = 0; i < num_rows * dim; ++i) {
    if ((codes[i] >> ex_bits & 1) != 0) SetBit(i, &plain);
  }
  if (!packed) return plain;
  std::vector<uint8_t> bytes;
  const int64_t whole = num_rows / 32 * 32;
  for (int64_t block = 0; block < whole; block += 32) {
    for (int64_t i = 0; i < row_bytes; ++i) {
      for (const int shift : {0, 4}) {
        for (const int64_t row : kOrder) {
          const int low = plain[(block + row) * row_bytes + i] >> shift & 15;
          const int high = plain[(block + row + 16) * row_bytes + i] >> shift & 15;
          bytes.push_back(static_cast<uint8_t>(low | high << 4));
        }
      }
    }
  }
  for (int64_t i = 0; i < row_bytes; ++i) {
    for (int64_t row = whole; row < num_rows; ++row) bytes.push_back(plain[row * row_bytes + i]);
  }
  return bytes;
}

}  // namespace kinjo::index
