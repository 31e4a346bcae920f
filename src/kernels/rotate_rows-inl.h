// Body of the rotation of several vectors, for one SIMD level: a lane is a vector, so that all
// steps are adds, subtracts and products without a shuffle.

#if defined(KINJO_KERNELS_ROTATE_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_ROTATE_ROWS_INL_H_
#undef KINJO_KERNELS_ROTATE_ROWS_INL_H_
#else
#define KINJO_KERNELS_ROTATE_ROWS_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/rotate_rows.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using RotatedDoubles = hn::CappedTag<double, kRotatedRows>;
constexpr int64_t kRotatedLanes = static_cast<int64_t>(hn::MaxLanes(RotatedDoubles()));

// (a, b) becomes (a + b, a - b), for `count` elements of each.
HWY_INLINE void MixRows(double* a, double* b, int64_t count) {
  const RotatedDoubles d;
  for (int64_t at = 0; at < count * kRotatedRows; at += kRotatedLanes) {
    const auto x = hn::LoadU(d, a + at);
    const auto y = hn::LoadU(d, b + at);
    hn::StoreU(hn::Add(x, y), d, a + at);
    hn::StoreU(hn::Sub(x, y), d, b + at);
  }
}

HWY_INLINE void ScaleRows(double* x, int64_t count, double factor) {
  const RotatedDoubles d;
  const auto factors = hn::Set(d, factor);
  for (int64_t at = 0; at < count * kRotatedRows; at += kRotatedLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, x + at), factors), d, x + at);
  }
}

void Rotate(const uint8_t* signs, int64_t dim, int64_t span, double scale, double* x) {
  const int64_t half_dim = dim / 2;
  for (int round = 0; round < kRotationRounds; ++round) {
    for (int64_t i = 0; i < dim; ++i) {
      if ((signs[i / 8] >> (i % 8) & 1) != 0) ScaleRows(x + i * kRotatedRows, 1, -1);
    }
    signs += (dim + 7) / 8;
    double* part = round % 2 == 0 ? x : x + (dim - span) * kRotatedRows;
    for (int64_t half = 1; half < span; half *= 2) {
      for (int64_t first = 0; first < span; first += 2 * half) {
        MixRows(part + first * kRotatedRows, part + (first + half) * kRotatedRows, half);
      }
    }
    ScaleRows(part, span, scale);
    if (span != dim) MixRows(x, x + half_dim * kRotatedRows, half_dim);
  }
  if (span != dim) ScaleRows(x, dim, 0.25);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
