// A plan as a tree of operators with the path, the reason, the limits and, after a run, what was
// measured.
#pragma once

#include "exec/plan_node.h"
#include "join/knn_join.h"
#include "join/plan.h"

namespace kinjo::join {

/// The tree. Its details are the path and why, the indexes not taken and the limits; `verbose` adds
/// how the memory is shared out. `report` fills the metrics; null before a run.
exec::PlanNode DescribePlan(const JoinPlan& made, bool verbose, const JoinReport* report);

}  // namespace kinjo::join
