#include "exec/exact_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/canonical_distance.h"

namespace kinjo::exec {

double CanonicalNorm(const float* row, int64_t dim) {
  return std::sqrt(kernels::CanonicalDot(row, row, dim));
}

double CanonicalNorm(const double* row, int64_t dim) {
  return std::sqrt(kernels::CanonicalDot(row, row, dim));
}

template <typename T>
void ExactRows::FindNorms(const VectorRows<T>& rows) {
  norms_.assign(states_.size(), 0.0);
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    if (states_[i] != VectorState::kValid) continue;
    norms_[i] = CanonicalNorm(rows.row(i), rows.width);
    if (norms_[i] == 0 || !std::isfinite(norms_[i])) states_[i] = VectorState::kNonFinite;
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
    if (metric == kernels::Metric::kCosine) out.FindNorms(out.doubles_);
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
