#include "index/rq_rotation.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "index/elements.h"
#include "kernels/canonical_distance.h"
#include "kernels/rotate_rows.h"

namespace kinjo::index {

namespace {

constexpr int kRounds = 4;

// In place, for a power of two elements; without the factor that makes it orthogonal.
void WalshHadamard(double* x, int64_t count) {
  for (int64_t half = 1; half < count; half *= 2) {
    for (int64_t first = 0; first < count; first += 2 * half) {
      for (int64_t i = first; i < first + half; ++i) {
        const double sum = x[i] + x[i + half];
        x[i + half] = x[i] - x[i + half];
        x[i] = sum;
      }
    }
  }
}

std::vector<double> WidenMatrix(const format::Tensor& matrix) {
  if (matrix.data == nullptr) return {};
  if (matrix.type == format::ElementType::kFloat64) return WidenTensor<double>(matrix);
  const std::vector<float> values = WidenTensor<float>(matrix);
  return {values.begin(), values.end()};
}

}  // namespace

RqRotation::RqRotation(const format::RqModel& model, int64_t dim)
    : dim_(dim), signs_(model.signs), matrix_(WidenMatrix(model.matrix)) {}

bool RqRotation::is_finite() const {
  return AllFinite(matrix_.data(), static_cast<int64_t>(matrix_.size()));
}

void RqRotation::ApplyRounds(double* x) const {
  const auto span = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(dim_)));
  const double scale = 1 / std::sqrt(static_cast<double>(span));
  const int64_t sign_bytes = (dim_ + 7) / 8;
  const int64_t half = dim_ / 2;
  for (int round = 0; round < kRounds; ++round) {
    const uint8_t* signs = signs_.data() + round * sign_bytes;
    for (int64_t i = 0; i < dim_; ++i) {
      if ((signs[i / 8] >> (i % 8) & 1) != 0) x[i] = -x[i];
    }
    // Of a width that isn't a power of two, the first or the last elements in turns.
    double* part = round % 2 == 0 ? x : x + (dim_ - span);
    WalshHadamard(part, span);
    for (int64_t i = 0; i < span; ++i) part[i] *= scale;
    if (span == dim_) continue;
    for (int64_t i = 0; i < half; ++i) {
      const double sum = x[i] + x[i + half];
      x[i + half] = x[i] - x[i + half];
      x[i] = sum;
    }
  }
  // Each of the four mixings of halves made vectors longer by sqrt(2).
  if (span != dim_) std::transform(x, x + dim_, x, [](double value) { return value / 4; });
}

void RqRotation::Apply(const double* in, double* out) const {
  if (matrix_.empty()) {
    std::copy(in, in + dim_, out);
    ApplyRounds(out);
    return;
  }
  for (int64_t i = 0; i < dim_; ++i) {
    out[i] = kernels::CanonicalDot(matrix_.data() + i * dim_, in, dim_);
  }
}

void RqRotation::ApplyToRows(double* x) const {
  constexpr int64_t kRows = kernels::kRotatedRows;
  if (matrix_.empty()) {
    kernels::RotateRows(signs_.data(), dim_, x);
    return;
  }
  std::vector<double> in(static_cast<size_t>(dim_));
  std::vector<double> out(static_cast<size_t>(dim_));
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t j = 0; j < dim_; ++j) in[j] = x[j * kRows + row];
    Apply(in.data(), out.data());
    for (int64_t j = 0; j < dim_; ++j) x[j * kRows + row] = out[j];
  }
}

}  // namespace kinjo::index
