#include "exec/list_rows.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/canonical_distance.h"

namespace kinjo::exec {

namespace {

const float* RowOf(const ExactRows& rows, int64_t row, float) { return rows.float_row(row); }
const double* RowOf(const ExactRows& rows, int64_t row, double) { return rows.double_row(row); }

template <typename T>
double NearestOf(const ExactRows& rows, std::span<const uint32_t> vectors, const double* query,
                 double norm) {
  double best = std::numeric_limits<double>::infinity();
  for (const uint32_t vector : vectors) {
    const double cosine = kernels::CanonicalDot(query, RowOf(rows, vector, T{}), rows.dim()) /
                          (norm * rows.norm(vector));
    best = std::min(best, std::max(0.0, 1.0 - cosine));
  }
  return best;
}

}  // namespace

arrow::Result<ListRows> ListRows::Read(kernels::Metric metric,
                                       const std::shared_ptr<arrow::Array>& array,
                                       const VectorRead& read) {
  if (metric != kernels::Metric::kCosine) {
    return base::Internal(read.what, " is a multivector column, which only cosine compares");
  }
  ARROW_ASSIGN_OR_RAISE(const FlatLists lists, FlattenLists(array, read));
  if (lists.begins.back() > std::numeric_limits<uint32_t>::max()) {
    return base::NotSupported(read.what, ": ", lists.num_rows(), " rows hold ", lists.begins.back(),
                              " vectors, more than are read at a time");
  }
  ListRows out;
  const VectorRead inner = ReadOfVectors(read, lists);
  ARROW_ASSIGN_OR_RAISE(out.vectors_, ExactRows::Read(metric, lists.vectors, inner));
  out.begins_.reserve(lists.begins.size());
  out.begins_.push_back(0);
  for (int64_t row = 0; row < lists.num_rows(); ++row) {
    for (int64_t i = lists.begins[row]; i < lists.begins[row + 1]; ++i) {
      if (out.vectors_.can_match(i)) out.matching_.push_back(static_cast<uint32_t>(i));
    }
    out.begins_.push_back(static_cast<int64_t>(out.matching_.size()));
  }
  return out;
}

double ListRows::Nearest(const QueryRows& queries, int64_t query,
                         std::span<const uint32_t> vectors) const {
  const double* values = queries.query(query);
  const double norm = queries.norms[query];
  return vectors_.is_float() ? NearestOf<float>(vectors_, vectors, values, norm)
                             : NearestOf<double>(vectors_, vectors, values, norm);
}

void ListRows::Score(const QueryLists& queries, std::span<const ScorePair> pairs,
                     float* distances) const {
  for (const auto& [list, row] : pairs) {
    const std::span<const uint32_t> vectors = vectors_of(row);
    double sum = 0;
    for (int64_t query = queries.begins[list]; query < queries.begins[list + 1]; ++query) {
      sum += Nearest(queries.vectors, query, vectors);
    }
    *distances++ = static_cast<float>(sum);
  }
}

}  // namespace kinjo::exec
