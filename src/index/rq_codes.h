// How RaBitQ stores codes: sign bits in permuted blocks of 32 rows, the other bits row after row in
// blocks of 64 elements whose layout depends on their number. docs/format/index-file.md has the
// tables.
#pragma once

#include <cstdint>

namespace kinjo::index {

/// The codes of one partition.
struct RqCodes {
  const uint8_t* signs = nullptr;     ///< PartitionRows::codes
  const uint8_t* ex_codes = nullptr;  ///< PartitionRows::ex_codes; null for one bit
  int64_t num_rows = 0;
  int64_t dim = 0;  ///< a multiple of 8
  int ex_bits = 0;  ///< 0 to 8
  bool packed = true;
};

/// Reads row `position`. Writes twice the code of each element: odd whole numbers n with |n| <
/// 2^(ex_bits + 1), such that elements of the rotated residual are about n times a step.
/// `doubled` has room for dim elements, rounded up to 64.
void ReadRqRow(const RqCodes& codes, int64_t position, float* doubled);

/// Room that ReadRqRow wants.
constexpr int64_t RqRowRoom(int64_t dim) { return (dim + 63) / 64 * 64; }

}  // namespace kinjo::index
