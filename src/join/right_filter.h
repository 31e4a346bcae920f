// The filter of a join (`where`): parsed and judged when the join is planned, evaluated once when
// it runs. What passes becomes part of the run's plan, so that every path sees the same rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "dataset/filter.h"
#include "join/options.h"
#include "join/right_side.h"
#include "join/run_counters.h"
#include "predicate/predicate.h"

namespace kinjo::join {

struct JoinPlan;

/// A filter, decided. Immutable.
struct RightFilter {
  std::shared_ptr<const predicate::Predicate> predicate;
  std::vector<std::string> indexes;  ///< scalar indexes that may answer parts
  int64_t mask_bytes = 0;            ///< at most, of the rows that pass; as far as rows are known
  int64_t work_bytes = 0;            ///< at most, while it is evaluated
};

/// Null when there is no filter. Reads no row.
arrow::Result<std::shared_ptr<const RightFilter>> MakeRightFilter(RightSide* right,
                                                                  const JoinOptions& options,
                                                                  int threads);

/// Whether scoring every row that passes is the better search: there are at most k of them, or so
/// few that the first round would not meet k. Never where an option caps the partitions: the caller
/// wants what lies in those. Looks at the right side and the options alone. Requires: the plan uses
/// an index.
bool NeedsNoSearch(const JoinPlan& plan, int64_t passing);

/// Evaluates the filter of `plan`, if it has one, and narrows the plan to the rows that pass. When
/// they are so few that scoring each of them is the better search, the index is left out.
arrow::Status ApplyRightFilter(base::ThreadPool* pool, const base::CancelToken& cancel,
                               base::MemoryBudget* budget, RunCounters* counters, JoinPlan* plan);

}  // namespace kinjo::join
