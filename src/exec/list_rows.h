// True right lists of vectors and the canonical distance of left lists to them: the multivector
// counterpart of exact_rows.h. The distance of a left list to a right one is the sum over the left
// vectors, in their order, of 1 - the greatest cosine with a right vector.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "exec/exact_rows.h"
#include "exec/query_lists.h"
#include "kernels/metric.h"

namespace kinjo::exec {

/// Lists of one array. Immutable after Read; thread-safe.
class ListRows {
 public:
  /// Reads a multivector array. `metric` must be cosine.
  static arrow::Result<ListRows> Read(kernels::Metric metric,
                                      const std::shared_ptr<arrow::Array>& array,
                                      const VectorRead& read);

  int64_t num_rows() const { return static_cast<int64_t>(begins_.size()) - 1; }
  /// False for a null and an empty list, and for one without a vector that can match.
  bool can_match(int64_t row) const { return begins_[row] < begins_[row + 1]; }

  /// The vectors of all rows, also those that can't match.
  const ExactRows& vectors() const { return vectors_; }
  /// The vectors of a row that can match, by their numbers in vectors().
  std::span<const uint32_t> vectors_of(int64_t row) const {
    return std::span(matching_).subspan(static_cast<size_t>(begins_[row]),
                                        static_cast<size_t>(begins_[row + 1] - begins_[row]));
  }

  /// 1 - the greatest cosine of query vector `query` with one of `vectors`, at least 0.
  double Nearest(const QueryRows& queries, int64_t query, std::span<const uint32_t> vectors) const;

  /// The distance of each pair (ScorePair::query counts lists), as reported. Rows must be able to
  /// match.
  void Score(const QueryLists& queries, std::span<const ScorePair> pairs, float* distances) const;

 private:
  ExactRows vectors_;
  std::vector<uint32_t> matching_;  // numbers of the vectors that can match, row after row
  std::vector<int64_t> begins_;     // of each row in matching_
};

}  // namespace kinjo::exec
