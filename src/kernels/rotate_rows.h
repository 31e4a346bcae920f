// RaBitQ's fast rotation of several vectors side by side: what coding spends a good part of its
// time on.
#pragma once

#include <cstdint>

namespace kinjo::kernels {

inline constexpr int64_t kRotatedRows = 8;
inline constexpr int kRotationRounds = 4;

/// Turns kRotatedRows vectors in place: element j of vector i is x[j * kRotatedRows + i]. `signs`
/// holds kRotationRounds times (dim + 7) / 8 bytes: bit i mod 8 of byte i / 8 flips element i. dim
/// is at least 1. The same bits at every SIMD level.
void RotateRows(const uint8_t* signs, int64_t dim, double* x);

}  // namespace kinjo::kernels
