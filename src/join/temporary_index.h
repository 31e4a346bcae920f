// The index that a run builds for itself. A recall target says that some neighbours may be missed;
// where the right side has no index and the left side is large, training and filling one in memory
// costs less than scoring every pair. Whether it does is counted and never timed, from the sizes of
// both sides and the memory limit, so that runs alike decide alike.
#pragma once

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "index/model_trainer.h"
#include "join/plan.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// What would be built for a plan, and what for.
struct TemporaryIndex {
  index::TrainingOptions training;
  double scan_work = 0;     ///< multiplications of the exact scan
  double index_work = 0;    ///< those of building, choosing and searching, weighed alike
  int64_t build_bytes = 0;  ///< that building takes
};

/// True when the plan's index is one of these; PlannedIndexOf says which. Its row ids are
/// addresses.
bool IsTemporary(const JoinPlan& plan);
TemporaryIndex PlannedIndexOf(const JoinPlan& plan);

/// Gives the plan, which has no index, a temporary one if it has a recall target and that pays:
/// with a stand-in of the expected size for its segment, and the reason in words. The plan's width
/// must be known, its memory needn't.
arrow::Status PlanTemporaryIndex(JoinPlan* plan);

/// Builds what PlanTemporaryIndex planned, of all right rows, and shares the plan's memory out
/// anew; leaves it again where it came out too unequal for the memory limit. Does nothing for other
/// plans.
arrow::Status BuildTemporaryIndex(base::ThreadPool* pool, const base::CancelToken& cancel,
                                  base::MemoryBudget* budget, RunCounters* counters,
                                  JoinPlan* plan);

/// Seconds that building the plan's index takes a thread which multiplies two elements in
/// `multiply_ns`.
double BuildSeconds(const JoinPlan& plan, double multiply_ns);

}  // namespace kinjo::join
