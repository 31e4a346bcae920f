#include "exec/exact_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/canonical_distance.h"

namespace kinjo::exec {

namespace {

// Squares and products of lengths between 2^-e and 2^e are normal doubles, with room for any
// dimension.
constexpr int kNormExponentMax = 300;

template <typename T>
double CanonicalNorm(const T* row, int64_t dim) {
  return std::sqrt(kernels::CanonicalDot(row, row, dim));
}

bool IsExtreme(double norm) {
  return !(norm >= std::ldexp(1.0, -kNormExponentMax) && norm <= std::ldexp(1.0, kNormExponentMax));
}

}  // namespace

double ScaleForCosine(double* row, int64_t dim) {
  const double norm = CanonicalNorm(row, dim);
  if (!IsExtreme(norm)) return norm;
  double largest = 0;
  for (int64_t j = 0; j < dim; ++j) largest = std::max(largest, std::abs(row[j]));
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest);
  for (int64_t j = 0; j < dim; ++j) row[j] = std::scalbn(row[j], -exponent);
  return CanonicalNorm(row, dim);
}

void ExactRows::FindNorms(const VectorRows<float>& rows) {
  norms_.assign(states_.size(), 0.0);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (states_[i] != VectorState::kValid) continue;
    norms_[i] = CanonicalNorm(rows.row(i), rows.width);
    if (norms_[i] == 0) states_[i] = VectorState::kNonFinite;
  }
}

void ExactRows::FindNorms(VectorRows<double>* rows) {
  norms_.assign(states_.size(), 0.0);
  for (int64_t i = 0; i < rows->num_rows; ++i) {
    if (states_[i] != VectorState::kValid) continue;
    norms_[i] = CanonicalNorm(rows->row(i), rows->width);
    if (IsExtreme(norms_[i])) {
      if (rows->own.empty()) {
        rows->own.assign(rows->base, rows->base + rows->num_rows * rows->width);
        rows->base = rows->own.data();
        rows->keep.reset();
      }
      norms_[i] = ScaleForCosine(rows->own.data() + i * rows->width, rows->width);
    }
    if (norms_[i] == 0) states_[i] = VectorState::kNonFinite;
  }
}

arrow::Result<ExactRows> ExactRows::Read(kernels::Metric metric,
                                         const std::shared_ptr<arrow::Array>& array,
                                         const VectorRead& read) {
  ExactRows out;
  out.metric_ = metric;
  const std::optional<VectorType> type = VectorTypeOf(*array->type());
  if (!type.has_value()) return base::Internal(read.what, " is not a vector column");
  if (metric == kernels::Metric::kHamming) {
    ARROW_ASSIGN_OR_RAISE(out.bytes_, ReadVectors<uint8_t>(array, read));
    out.states_ = out.bytes_.states;
    out.dim_ = out.bytes_.width;
    return out;
  }
  if (type->widens_to_float()) {
    ARROW_ASSIGN_OR_RAISE(out.floats_, ReadVectors<float>(array, read));
    out.states_ = out.floats_.states;
    out.dim_ = out.floats_.width;
    if (metric == kernels::Metric::kCosine) out.FindNorms(out.floats_);
  } else {
    ARROW_ASSIGN_OR_RAISE(out.doubles_, ReadVectors<double>(array, read));
    out.states_ = out.doubles_.states;
    out.dim_ = out.doubles_.width;
    if (metric == kernels::Metric::kCosine) out.FindNorms(&out.doubles_);
  }
  return out;
}

template <typename T>
void ExactRows::ScoreRows(const VectorRows<T>& rows, const QueryRows& queries,
                          std::span<const ScorePair> pairs, float* distances) const {
  const int64_t dim = rows.width;
  float* out = distances;
  switch (metric_) {
    case kernels::Metric::kL2:
      for (const auto& [query, row] : pairs) {
        *out++ = static_cast<float>(kernels::CanonicalL2(queries.query(query), rows.row(row), dim));
      }
      return;
    case kernels::Metric::kDot:
      for (const auto& [query, row] : pairs) {
        *out++ = static_cast<float>(
            1.0 - kernels::CanonicalDot(queries.query(query), rows.row(row), dim));
      }
      return;
    default:
      for (const auto& [query, row] : pairs) {
        const double cosine = kernels::CanonicalDot(queries.query(query), rows.row(row), dim) /
                              (queries.norms[query] * norms_[row]);
        *out++ = static_cast<float>(std::max(0.0, 1.0 - cosine));
      }
      return;
  }
}

void ExactRows::Score(const QueryRows& queries, std::span<const ScorePair> pairs,
                      float* distances) const {
  if (metric_ == kernels::Metric::kHamming) {
    for (const auto& [query, row] : pairs) {
      *distances++ = static_cast<float>(
          kernels::HammingDistance(queries.query_bytes(query), bytes_.row(row), dim_));
    }
    return;
  }
  if (is_float()) {
    ScoreRows(floats_, queries, pairs, distances);
  } else {
    ScoreRows(doubles_, queries, pairs, distances);
  }
}

}  // namespace kinjo::exec
