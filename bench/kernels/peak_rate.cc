#include "peak_rate.h"

#include <chrono>
#include <cstdint>

#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak_rate.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::bench {
namespace HWY_NAMESPACE {
namespace {

// Twelve chains are enough for two units of latency 5. Returns the operations done.
int64_t MultiplyAdd(int64_t steps, float* sink) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  constexpr int kChains = 12;
  decltype(hn::Zero(d)) sum[kChains];
  for (int c = 0; c < kChains; ++c) sum[c] = hn::Set(d, static_cast<float>(c));
  const auto factor = hn::Set(d, sink[0]);
  const auto other = hn::Set(d, sink[1]);
  for (int64_t i = 0; i < steps; ++i) {
    for (int c = 0; c < kChains; ++c) sum[c] = hn::MulAdd(factor, other, sum[c]);
  }
  for (int c = 1; c < kChains; ++c) sum[0] = hn::Add(sum[0], sum[c]);
  sink[0] = hn::GetLane(sum[0]) * 0.0f;
  return steps * kChains * static_cast<int64_t>(hn::Lanes(d)) * 2;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::bench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kinjo::bench {
namespace {
HWY_EXPORT(MultiplyAdd);
}  // namespace

double PeakGflops() {
  float sink[2] = {0.5f, 0.25f};
  const auto start = std::chrono::steady_clock::now();
  const int64_t operations = HWY_DYNAMIC_DISPATCH(MultiplyAdd)(300000, sink);
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
  return static_cast<double>(operations) / taken.count() + sink[0];
}

}  // namespace kinjo::bench
#endif  // HWY_ONCE
