// Codes of an index turned into grouped rows, 16 rows at a time. The numbers are what plain double
// arithmetic makes of them (no contraction, squared norms summed from the first element to the
// last), the same bits at every SIMD level.
#pragma once

#include <cstdint>

#include "kernels/grouped_rows.h"

namespace kinjo::kernels {

/// Element j of row i stands for start + (rows[i][j] - centre[j]) * step.
struct ByteRows {
  const uint8_t* const* rows;  ///< kGroupRows rows of `dim` bytes; padding rows may repeat others
  const double* centre;        ///< [dim]
  double start;
  double step;
};

/// Element j of row i stands for scales[i] * rows[i * stride + j], plus terms[i] * centre[j] (added
/// in the other order) where there is a centre.
struct ScaledRows {
  const float* rows;  ///< kGroupRows rows; padding rows must be finite
  int64_t stride;     ///< elements from row to row
  const double* scales;
  const double* terms;
  const double* centre;  ///< [dim]; null = none
};

/// Stores the first `count` rows, rounded to float, as group `group` of `out`, with their inits
/// (GroupedRows::SetRow). Different groups may be stored from different threads.
void StoreByteRows(const ByteRows& from, int64_t group, int64_t count, bool dot, GroupedRows* out);
void StoreScaledRows(const ScaledRows& from, int64_t group, int64_t count, bool dot,
                     GroupedRows* out);

/// Twice the code of each of `count` elements, a multiple of 8: out[i] = 2 (s_i 2^ex_bits + v_i) -
/// (2^(ex_bits + 1) - 1), where s_i is bit i mod 8 of signs[i / 8] and v_i = values[i].
void DoubleSignedCodes(const uint8_t* signs, const uint8_t* values, int ex_bits, int64_t count,
                       float* out);

}  // namespace kinjo::kernels
