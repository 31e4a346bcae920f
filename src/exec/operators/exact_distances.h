// The exact distances of one query to the rows of a vector or multivector array: what
// KNNVectorDistance appends and Refine orders by.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "exec/operators/plan_run.h"
#include "exec/operators/vector_query.h"
#include "exec/query_lists.h"

namespace kinjo::exec {

/// Immutable after Make; used by one run.
class ExactDistances {
 public:
  /// The query fits the column's type (CheckQueryFits); `what` names the column in messages.
  static arrow::Result<ExactDistances> Make(const VectorQuery& query, const arrow::DataType& type,
                                            std::string what);

  /// The distance of each row, NaN where the row or the query can't match. `first_row` numbers the
  /// array's first row in messages.
  arrow::Result<std::vector<float>> Score(const std::shared_ptr<arrow::Array>& vectors,
                                          int64_t first_row, PlanRun* run) const;

 private:
  template <typename Rows, typename Queries>
  arrow::Status ScoreRows(const Rows& rows, const Queries& queries, PlanRun* run,
                          std::vector<float>* distances) const;

  bool is_multivector_ = false;
  QueryLists query_;  // one list, or none when the query can't match
  std::string what_;
};

}  // namespace kinjo::exec
