// Bodies of the canonical distances and of Hamming's, for one SIMD level. Multiply and add stay two
// instructions, each rounded (the build forbids contraction), so every level makes the same bits.

#if defined(KINJO_KERNELS_CANONICAL_DISTANCE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KINJO_KERNELS_CANONICAL_DISTANCE_INL_H_
#undef KINJO_KERNELS_CANONICAL_DISTANCE_INL_H_
#else
#define KINJO_KERNELS_CANONICAL_DISTANCE_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/block_scan.h"

HWY_BEFORE_NAMESPACE();
namespace kinjo::kernels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int kLanes = 8;
using Doubles = hn::CappedTag<double, kLanes>;
constexpr int kDoublesPerVector = hn::MaxLanes(Doubles());
constexpr int kLaneVectors = kLanes / kDoublesPerVector;

HWY_INLINE hn::Vec<Doubles> LoadDoubles(const double* from) { return hn::LoadU(Doubles(), from); }
HWY_INLINE hn::Vec<Doubles> LoadDoubles(const float* from) {
  const hn::Rebind<float, Doubles> floats;
  return hn::PromoteTo(Doubles(), hn::LoadU(floats, from));
}

struct SquaredDifference {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    const V difference = hn::Sub(a, b);
    return hn::Mul(difference, difference);
  }
};
struct Product {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};

// Sums term(a[j], b[j]). The tail is padded with zeros: a term of zeros is +0, and adding +0 to a
// lane changes nothing, since a lane starts at +0 and so never becomes -0.
template <class Term, class A, class B>
HWY_INLINE double LaneSum(const A* a, const B* b, int64_t dim) {
  const Term term;
  hn::Vec<Doubles> sum[kLaneVectors];
  for (auto& lane : sum) lane = hn::Zero(Doubles());
  int64_t j = 0;
  for (; j + kLanes <= dim; j += kLanes) {
    for (int v = 0; v < kLaneVectors; ++v) {
      const int64_t at = j + v * kDoublesPerVector;
      sum[v] = hn::Add(sum[v], term(LoadDoubles(a + at), LoadDoubles(b + at)));
    }
  }
  if (j < dim) {
    A tail_a[kLanes] = {};
    B tail_b[kLanes] = {};
    for (int lane = 0; j + lane < dim; ++lane) {
      tail_a[lane] = a[j + lane];
      tail_b[lane] = b[j + lane];
    }
    for (int v = 0; v < kLaneVectors; ++v) {
      const int at = v * kDoublesPerVector;
      sum[v] = hn::Add(sum[v], term(LoadDoubles(tail_a + at), LoadDoubles(tail_b + at)));
    }
  }
  double lane[kLanes];
  for (int v = 0; v < kLaneVectors; ++v) {
    hn::StoreU(sum[v], Doubles(), lane + v * kDoublesPerVector);
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// LaneSum of squared differences, where the left side is query - centre.
double L2Residual(const double* query, const float* centre, const float* row, int64_t dim) {
  hn::Vec<Doubles> sum[kLaneVectors];
  for (auto& lane : sum) lane = hn::Zero(Doubles());
  const SquaredDifference term;
  int64_t j = 0;
  for (; j + kLanes <= dim; j += kLanes) {
    for (int v = 0; v < kLaneVectors; ++v) {
      const int64_t at = j + v * kDoublesPerVector;
      const auto moved = hn::Sub(LoadDoubles(query + at), LoadDoubles(centre + at));
      sum[v] = hn::Add(sum[v], term(moved, LoadDoubles(row + at)));
    }
  }
  double lane[kLanes];
  for (int v = 0; v < kLaneVectors; ++v) {
    hn::StoreU(sum[v], Doubles(), lane + v * kDoublesPerVector);
  }
  for (int at = 0; j + at < dim; ++at) {
    const double moved = query[j + at] - static_cast<double>(centre[j + at]);
    const double difference = moved - static_cast<double>(row[j + at]);
    lane[at] += difference * difference;
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

// The difference in double, rounded to float, and the squared norm of the floats in 8 lanes.
template <class C, bool kCentred>
double MoveQueryBy(const double* query, const C* centre, int64_t dim, float* moved) {
  const Doubles d;
  const hn::Rebind<float, Doubles> narrow;
  hn::Vec<Doubles> sum[kLaneVectors];
  for (auto& lane : sum) lane = hn::Zero(d);
  int64_t j = 0;
  for (; j + kLanes <= dim; j += kLanes) {
    for (int v = 0; v < kLaneVectors; ++v) {
      const int64_t at = j + v * kDoublesPerVector;
      auto value = LoadDoubles(query + at);
      if constexpr (kCentred) value = hn::Sub(value, LoadDoubles(centre + at));
      const auto rounded = hn::DemoteTo(narrow, value);
      hn::StoreU(rounded, narrow, moved + at);
      const auto exact = hn::PromoteTo(d, rounded);
      sum[v] = hn::Add(sum[v], hn::Mul(exact, exact));
    }
  }
  double lane[kLanes];
  for (int v = 0; v < kLaneVectors; ++v) hn::StoreU(sum[v], d, lane + v * kDoublesPerVector);
  for (int at = 0; j + at < dim; ++at) {
    double value = query[j + at];
    if constexpr (kCentred) value -= static_cast<double>(centre[j + at]);
    moved[j + at] = static_cast<float>(value);
    lane[at] += static_cast<double>(moved[j + at]) * moved[j + at];
  }
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}
template <class C>
double MoveQuery(const double* query, const C* centre, int64_t dim, float* moved) {
  return centre == nullptr ? MoveQueryBy<C, false>(query, centre, dim, moved)
                           : MoveQueryBy<C, true>(query, centre, dim, moved);
}

template <class A, class B>
double L2(const A* a, const B* b, int64_t dim) {
  return LaneSum<SquaredDifference>(a, b, dim);
}
template <class A, class B>
double Dot(const A* a, const B* b, int64_t dim) {
  return LaneSum<Product>(a, b, dim);
}

template <class Term, class A, class B>
HWY_INLINE void LaneSumHits(const A* queries, const B* rows, int64_t dim, const Hit* hits,
                            int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = LaneSum<Term>(queries + int64_t{hits[i].query} * dim,
                           rows + int64_t{hits[i].row} * dim, dim);
  }
}
template <class A, class B>
void L2Hits(const A* queries, const B* rows, int64_t dim, const Hit* hits, int64_t count,
            double* out) {
  LaneSumHits<SquaredDifference>(queries, rows, dim, hits, count, out);
}
template <class A, class B>
void DotHits(const A* queries, const B* rows, int64_t dim, const Hit* hits, int64_t count,
             double* out) {
  LaneSumHits<Product>(queries, rows, dim, hits, count, out);
}

int64_t Hamming(const uint8_t* a, const uint8_t* b, int64_t bytes) {
  uint64_t count = 0;
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint64_t> words;
  const hn::Repartition<uint8_t, decltype(words)> octets;
  const int64_t step = static_cast<int64_t>(hn::Lanes(octets));
  auto sum = hn::Zero(words);
  for (; j + step <= bytes; j += step) {
    const auto differing = hn::Xor(hn::LoadU(octets, a + j), hn::LoadU(octets, b + j));
    sum = hn::Add(sum, hn::PopulationCount(hn::BitCast(words, differing)));
  }
  count = hn::GetLane(hn::SumOfLanes(words, sum));
#endif
  for (; j < bytes; ++j) count += static_cast<uint64_t>(__builtin_popcount(a[j] ^ b[j]));
  return static_cast<int64_t>(count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kinjo::kernels
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
