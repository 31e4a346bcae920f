// The one distance that orders and is reported. Products and sums in double, in 8 fixed lanes and a
// fixed tree, without contraction: the same bits at every SIMD level, batch size and thread count
// (docs/semantics.md).
#pragma once

#include <cstdint>

namespace kinjo::kernels {

/// Which elements a vector has. float16 and integer vectors are widened to float32 first, which is
/// exact. Lanes: element j belongs to lane j mod 8; the tree is ((0+4)+(2+6))+((1+5)+(3+7)). All
/// pointers are to `dim` contiguous elements; none may be null unless dim is 0.

/// Sum of (a - b)^2.
double CanonicalL2(const float* a, const float* b, int64_t dim);
double CanonicalL2(const double* a, const float* b, int64_t dim);
double CanonicalL2(const double* a, const double* b, int64_t dim);

/// CanonicalL2 of query - centre, subtracted in double, and row.
double CanonicalL2OfResidual(const double* query, const float* centre, const float* row,
                             int64_t dim);

/// Sum of a * b.
double CanonicalDot(const float* a, const float* b, int64_t dim);
double CanonicalDot(const double* a, const float* b, int64_t dim);
double CanonicalDot(const double* a, const double* b, int64_t dim);

struct Hit;

/// The same for many pairs at once, out[i] for hits[i]: queries is [any][dim], rows is [any][dim],
/// both row-major and as they were before centring (block_scan.h). What a loop over survivors
/// calls: the SIMD level is looked up once.
void CanonicalL2Hits(const float* queries, const float* rows, int64_t dim, const Hit* hits,
                     int64_t count, double* out);
void CanonicalL2Hits(const double* queries, const float* rows, int64_t dim, const Hit* hits,
                     int64_t count, double* out);
void CanonicalDotHits(const float* queries, const float* rows, int64_t dim, const Hit* hits,
                      int64_t count, double* out);
void CanonicalDotHits(const double* queries, const float* rows, int64_t dim, const Hit* hits,
                      int64_t count, double* out);

/// Number of differing bits of two vectors of `bytes` bytes.
int64_t HammingDistance(const uint8_t* a, const uint8_t* b, int64_t bytes);

}  // namespace kinjo::kernels
