// True right vectors and the canonical distance of queries to them: the one place that turns a
// metric, a query and a vector into the number that orders and is reported.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "exec/query_rows.h"
#include "exec/vector_array.h"
#include "kernels/metric.h"

namespace kinjo::exec {

/// A query (by number in its block) and a row (by number in its ExactRows).
struct ScorePair {
  uint32_t query;
  uint32_t row;
};

/// Canonical length of a finite vector for cosine, 0 only for the zero vector. Where products with
/// its elements would vanish or overflow (which no float vector comes near), the vector is first
/// brought near to length 1 by a power of two, so that its direction keeps its digits.
double ScaleForCosine(double* row, int64_t dim);

/// Vectors of one array. Immutable after Read; thread-safe.
class ExactRows {
 public:
  /// Reads a vector array for `metric`. Hamming wants uint8 elements.
  static arrow::Result<ExactRows> Read(kernels::Metric metric,
                                       const std::shared_ptr<arrow::Array>& array,
                                       const VectorRead& read);

  int64_t num_rows() const { return static_cast<int64_t>(states_.size()); }
  /// Elements of a row; -1 when every row is null and the type doesn't tell.
  int64_t dim() const { return dim_; }
  /// False for null and non-finite vectors, and for cosine the zero vector.
  bool can_match(int64_t row) const { return states_[row] == VectorState::kValid; }

  bool is_float() const { return doubles_.base == nullptr; }
  const float* float_row(int64_t row) const { return floats_.row(row); }
  /// For cosine as scaled by ScaleForCosine, where that was needed.
  const double* double_row(int64_t row) const { return doubles_.row(row); }
  const uint8_t* bytes_row(int64_t row) const { return bytes_.row(row); }
  /// Length of a row that can match; cosine only.
  double norm(int64_t row) const { return norms_[row]; }

  /// The distance of each pair, as reported. Rows must be able to match.
  void Score(const QueryRows& queries, std::span<const ScorePair> pairs, float* distances) const;

 private:
  void FindNorms(const VectorRows<float>& rows);
  void FindNorms(VectorRows<double>* rows);
  template <typename T>
  void ScoreRows(const VectorRows<T>& rows, const QueryRows& queries,
                 std::span<const ScorePair> pairs, float* distances) const;

  kernels::Metric metric_ = kernels::Metric::kL2;
  int64_t dim_ = -1;
  VectorRows<float> floats_;
  VectorRows<double> doubles_;
  VectorRows<uint8_t> bytes_;
  std::vector<VectorState> states_;
  std::vector<double> norms_;
};

}  // namespace kinjo::exec
