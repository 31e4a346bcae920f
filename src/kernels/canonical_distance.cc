#include "kernels/canonical_distance.h"

#include "kernels/kernel_table.h"

namespace kinjo::kernels {

double CanonicalL2(const float* a, const float* b, int64_t dim) {
  return Kernels().l2_ff(a, b, dim);
}
double CanonicalL2(const double* a, const float* b, int64_t dim) {
  return Kernels().l2_df(a, b, dim);
}
double CanonicalL2(const double* a, const double* b, int64_t dim) {
  return Kernels().l2_dd(a, b, dim);
}

double CanonicalL2OfResidual(const double* query, const float* centre, const float* row,
                             int64_t dim) {
  return Kernels().l2_residual(query, centre, row, dim);
}

double CanonicalDot(const float* a, const float* b, int64_t dim) {
  return Kernels().dot_ff(a, b, dim);
}
double CanonicalDot(const double* a, const float* b, int64_t dim) {
  return Kernels().dot_df(a, b, dim);
}
double CanonicalDot(const double* a, const double* b, int64_t dim) {
  return Kernels().dot_dd(a, b, dim);
}

void CanonicalL2Hits(const float* queries, const float* rows, int64_t dim, const Hit* hits,
                     int64_t count, double* out) {
  Kernels().l2_hits_ff(queries, rows, dim, hits, count, out);
}
void CanonicalL2Hits(const double* queries, const float* rows, int64_t dim, const Hit* hits,
                     int64_t count, double* out) {
  Kernels().l2_hits_df(queries, rows, dim, hits, count, out);
}
void CanonicalDotHits(const float* queries, const float* rows, int64_t dim, const Hit* hits,
                      int64_t count, double* out) {
  Kernels().dot_hits_ff(queries, rows, dim, hits, count, out);
}
void CanonicalDotHits(const double* queries, const float* rows, int64_t dim, const Hit* hits,
                      int64_t count, double* out) {
  Kernels().dot_hits_df(queries, rows, dim, hits, count, out);
}

int64_t HammingDistance(const uint8_t* a, const uint8_t* b, int64_t bytes) {
  return Kernels().hamming(a, b, bytes);
}

}  // namespace kinjo::kernels
