// The exact distances of one query to the vectors of an array: what KNNVectorDistance appends and
// Refine orders by.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "exec/operators/plan_run.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Immutable after Make; used by one run.
class ExactDistances {
 public:
  /// `what` names the column in messages.
  static arrow::Result<ExactDistances> Make(const VectorQuery& query, std::string what);

  /// The distance of each row, NaN where the row or the query can't match. `first_row` numbers the
  /// array's first row in messages.
  arrow::Result<std::vector<float>> Score(const std::shared_ptr<arrow::Array>& vectors,
                                          int64_t first_row, PlanRun* run) const;

 private:
  QueryRows query_;  // no query when it can't match
  int64_t dim_ = 0;
  std::string what_;
};

}  // namespace kinjo::exec
