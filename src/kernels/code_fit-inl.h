// Body of the fit of whole steps, for one SIMD level. Sixteen lanes each, whatever the width of a
// vector, and multiply and add apart: every level makes the same bits.

#if defined(KINJO_KERNELS_CODE_FIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_CODE_FIT_INL_H_
#undef KINJO_KERNELS_CODE_FIT_INL_H_
#else
#define KINJO_KERNELS_CODE_FIT_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/code_fit.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using FitFloats = hn::CappedTag<float, kFitLanes>;
constexpr int kFitVectorFloats = hn::MaxLanes(FitFloats());
constexpr int kFitVectors = static_cast<int>(kFitLanes) / kFitVectorFloats;

void FitSums(const CodeFit& fit, float scale, float* product, float* square) {
  const FitFloats d;
  const auto scales = hn::Set(d, scale);
  const auto edge = hn::Set(d, fit.edge);
  const auto most = hn::Set(d, fit.most);
  const auto half = hn::Set(d, 0.5f);
  hn::Vec<FitFloats> products[kFitVectors];
  hn::Vec<FitFloats> squares[kFitVectors];
  for (int v = 0; v < kFitVectors; ++v) products[v] = squares[v] = hn::Zero(d);
  for (int64_t at = 0; at < fit.count; at += kFitLanes) {
    for (int v = 0; v < kFitVectors; ++v) {
      const auto x = hn::LoadU(d, fit.elements + at + v * kFitVectorFloats);
      const auto reach = hn::Min(hn::Add(hn::Mul(x, scales), edge), most);
      const auto code = hn::IfThenElseZero(hn::Ge(x, hn::Zero(d)), hn::Add(hn::Floor(reach), half));
      products[v] = hn::Add(products[v], hn::Mul(x, code));
      squares[v] = hn::Add(squares[v], hn::Mul(code, code));
    }
  }
  for (int v = 0; v < kFitVectors; ++v) {
    hn::StoreU(products[v], d, product + v * kFitVectorFloats);
    hn::StoreU(squares[v], d, square + v * kFitVectorFloats);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
