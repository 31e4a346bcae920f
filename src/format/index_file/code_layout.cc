#include "format/index_file/code_layout.h"

#include <algorithm>

namespace kinjo::format {

void TransposeCodes(const uint8_t* rows, uint64_t num_rows, uint64_t row_bytes, uint8_t* planes) {
  // Tiles that stay in the cache on both sides.
  constexpr uint64_t kTileRows = 256;
  for (uint64_t begin = 0; begin < num_rows; begin += kTileRows) {
    const uint64_t end = std::min(num_rows, begin + kTileRows);
    for (uint64_t b = 0; b < row_bytes; ++b) {
      for (uint64_t i = begin; i < end; ++i) planes[b * num_rows + i] = rows[i * row_bytes + b];
    }
  }
}

void PackSigns(const uint8_t* rows, uint64_t num_rows, uint64_t row_bytes, uint8_t* packed) {
  constexpr uint64_t kBlockRows = 32;
  constexpr uint64_t kOrder[16] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  const uint64_t whole = num_rows / kBlockRows * kBlockRows;
  for (uint64_t block = 0; block < whole; block += kBlockRows) {
    const uint8_t* from = rows + block * row_bytes;
    for (uint64_t i = 0; i < row_bytes; ++i) {
      for (int shift = 0; shift <= 4; shift += 4) {
        for (const uint64_t row : kOrder) {
          const int low = from[row * row_bytes + i] >> shift & 15;
          const int high = from[(row + 16) * row_bytes + i] >> shift & 15;
          *packed++ = static_cast<uint8_t>(low | high << 4);
        }
      }
    }
  }
  TransposeCodes(rows + whole * row_bytes, num_rows - whole, row_bytes, packed);
}

}  // namespace kinjo::format
