// The bound that makes the block scan a filter which never loses a row, and the scratch it runs on.
//
// Let u = 2^-24, n = dim, gamma_m = m u / (1 - m u) (Higham, Accuracy and Stability of Numerical
// Algorithms, section 3.1). For a query q, a row x and a centre c write a = q - c, b = x - c for
// the exact vectors and a', b' for the stored floats.
//
// 1. Rounding to float32: each element of a' and b' is off by at most u relative, so
//    |a' - a| <= u |a|, |b' - b| <= u |b|. With D = |a - b|^2 and D' = |a' - b'|^2,
//    |D' - D| <= u (|a| + |b|) (2 sqrt(D) + u (|a| + |b|)) <= (2 + u) u (|a| + |b|)^2
//             <= (4 + 2u) u (|a|^2 + |b|^2);
//    the score is half of it: 2 u (|a'|^2 + |b'|^2) and terms in u^2. For dot,
//    |a'.b' - a.b| <= (2 + u) u |a| |b| <= (1 + u) u (|a|^2 + |b|^2).
// 2. Summation: the accumulator starts at init and takes n products, in the order of j, each by one
//    fused or two single roundings. So the start value passes through at most n + 1 roundings, and
//    each product through at most n + 1:
//    error <= gamma_(n+1) (|init| + sum |a'_j b'_j|)
//          <= gamma_(n+1) (|b'|^2 / 2 + (|a'|^2 + |b'|^2) / 2) <= gamma_(n+1) (|a'|^2 + |b'|^2).
// 3. The norms and the canonical distance are double: n 2^-53 relative, below u for any n < 2^28.
//
// Together less than gamma_(n+8) (|a'|^2 + |b'|^2) = ErrorFactor (...). RowInit takes the row's
// part off the start value and rounds down; a bound adds the query's part and rounds up. A start
// value that isn't |b'|^2 / 2 nor 0 puts |start| + |b'|^2 / 2 in the row's place, if that is more:
// in 2. by the sum given there, and 1. is then that of dot, plus u |a'|^2 where the bound takes
// |a'|^2 for |a|^2. A reported
// distance is a float32: a row that ties with `distance` after rounding may lie half a unit in the
// last place above it, so a bound first adds 2^-22 |distance|, twice what is needed.
//
// Underflow: an operation on numbers below 2^-126 is off by at most 2^-126, also where a host
// process has set the CPU to flush them to zero. kTinyPerStep (n + 8) covers it.
// The scan over bytes has a coarser error, whose bound code_scan-inl.h derives and adds to these.
// Overflow: with both squared norms <= kMaxNorm2 = 2^124 every partial sum stays below 2^126. Above
// it, init is -inf: the score is -inf or NaN, never +inf, and a score that isn't greater than the
// bound survives. A query above it gets the bound +inf.
#include "kernels/block_scan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/kernel_table.h"

namespace kinjo::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kMaxNorm2 = 0x1p124;
constexpr double kTinyPerStep = 0x1p-124;
constexpr int64_t kStackBytes = 64 * 1024;
constexpr int64_t kHeapBytes = 256 * 1024;

float RoundUp(double value) {
  const float rounded = static_cast<float>(value);
  return static_cast<double>(rounded) < value ? std::nextafter(rounded, kInfinity) : rounded;
}
float RoundDown(double value) { return -RoundUp(-value); }

double FactorOf(int64_t dim) {
  const double steps = static_cast<double>(dim + 8) * 0x1p-24;
  return steps < 0.25 ? steps / (1 - steps) : std::numeric_limits<double>::infinity();
}

// The largest distance that is reported as `distance`.
double BeforeRounding(double distance) {
  if (std::isinf(distance)) return distance;
  return distance + std::abs(distance) * 0x1p-22 + 0x1p-140;
}

// `score` is the largest true score that has to survive.
float BoundOf(double score, double query_norm2, int64_t dim) {
  const double factor = FactorOf(dim);
  if (!(query_norm2 <= kMaxNorm2) || std::isinf(factor) || std::isnan(score)) return kInfinity;
  const float bound =
      RoundUp(score + factor * query_norm2 + kTinyPerStep * static_cast<double>(dim + 8));
  // A score below the range of float32 still has to let through a row of init -inf.
  return std::max(bound, std::numeric_limits<float>::lowest());
}

// Scratch for one call. On the stack while that holds four tiles of queries: then a row that was
// fetched once serves 32 queries. Wider queries go to the heap, which costs nothing against the
// arithmetic they bring; a quarter of a megabyte leaves room for the rows in a core's second cache.
template <class Body>
void WithScratch(const BlockScan& scan, Body body) {
  const int64_t tile_bytes = MinScratchBytes(scan.dim);
  if (4 * tile_bytes <= kStackBytes) {
    alignas(64) std::byte scratch[kStackBytes];
    body(scratch, kStackBytes);
    return;
  }
  const int64_t tiles = (scan.num_queries + kMaxQueryTile - 1) / kMaxQueryTile;
  const int64_t bytes = std::max(tile_bytes, std::min(kHeapBytes, tiles * tile_bytes));
  AlignedVector<std::byte> scratch(static_cast<size_t>(bytes));
  body(scratch.data(), bytes);
}

}  // namespace

float ErrorFactor(int64_t dim) { return RoundUp(FactorOf(dim)); }

float RowInit(double norm2, int64_t dim, bool dot) {
  return RowInitFrom(dot ? 0 : norm2 / 2, norm2, dim);
}

float RowInitFrom(double start, double norm2, int64_t dim) {
  const double factor = FactorOf(dim);
  const double size = std::abs(start) + norm2 / 2;
  if (!(std::max(size, norm2) <= kMaxNorm2) || std::isinf(factor)) return -kInfinity;
  return RoundDown(start - factor * std::max(size, norm2));
}

// RowInitFrom, less the row's ErrorPart of code_scan-inl.h. All in double, so that the last term,
// some 2^-20 of everything, covers also that it is rounded to float at the end.
void CodedInits(const double* norms2, const double* rests2, int64_t count, int64_t dim, bool dot,
                float* inits) {
  constexpr double kHalfInverse = 0.5 * 160;
  constexpr double kHalf = 0.5 / 160;
  const double factor = FactorOf(dim);
  const double of_norm2 = factor + 1.01 * kHalf + kHalfInverse * 0x1p-33 + 0x1p-20;
  const double tiny = static_cast<double>(dim + 8) * 0x1p-112;
  for (int64_t i = 0; i < count; ++i) {
    const double start = dot ? 0 : norms2[i] / 2;
    const double part = of_norm2 * norms2[i] + 1.05 * kHalfInverse * rests2[i] + tiny;
    inits[i] = static_cast<float>(start - part - (start + part) * 0x1p-19);
  }
}

float L2Bound(double distance, double query_norm2, int64_t dim) {
  return BoundOf((BeforeRounding(distance) - query_norm2) / 2, query_norm2, dim);
}

float DotBound(double distance, double query_norm2, int64_t dim) {
  return BoundOf(BeforeRounding(distance) - 1, query_norm2, dim);
}

// Unit vectors are 2 (1 - cos) apart, squared. Dividing by the norm in double is off by less than
// (n + 8) 2^-53 an element's size, which moves a squared distance <= 4 by less than (n + 8) 2^-49.
float CosineBound(double distance, double query_norm2, int64_t dim) {
  const double division = static_cast<double>(dim + 8) * 0x1p-49;
  return BoundOf((2 * BeforeRounding(distance) + 0x1p-50 + division - query_norm2) / 2, query_norm2,
                 dim);
}

int64_t ScanBlock(const BlockScan& scan, Hit* hits) {
  int64_t count = 0;
  const KernelTable& kernels = Kernels();
  const bool by_codes = scan.codes.codes != nullptr && kernels.scan_codes != nullptr;
  const auto scan_rows = by_codes ? kernels.scan_codes : kernels.scan_block;
  WithScratch(scan,
              [&](void* scratch, int64_t bytes) { count = scan_rows(scan, scratch, bytes, hits); });
  return count;
}

void ScoreCodes(const BlockScan& scan, float* scores, int64_t stride) {
  WithScratch(scan, [&](void* scratch, int64_t bytes) {
    Kernels().score_codes(scan, scratch, bytes, scores, stride);
  });
}

void ScoreBlock(const BlockScan& scan, float* scores, int64_t stride) {
  WithScratch(scan, [&](void* scratch, int64_t bytes) {
    Kernels().score_block(scan, scratch, bytes, scores, stride);
  });
}

}  // namespace kinjo::kernels
