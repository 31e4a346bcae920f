// What a plan needs of memory, as join/memory_plan.h shares it out: counted from the sides, the
// index's own tables and the way that the plan goes.
#pragma once

#include "join/memory_plan.h"
#include "join/plan.h"

namespace kinjo::join {

/// Reads nothing. The plan's columns, path, filter, width and ways are set.
MemoryNeeds NeedsOf(const JoinPlan& plan);

/// Bytes of a right vector's element as it is scored.
int64_t ElementBytes(arrow::Type::type element);

/// Right vectors (multivector: rows) that each query block scans: all, those that pass the filter
/// once that is known, or beside an index those that it doesn't cover.
int64_t RowsScanned(const JoinPlan& plan);

/// The ranks that a query keeps of a segment's partitions for its first round: at least as many as
/// it visits in that.
int64_t RankedAtMost(const exec::ProbeLimits& probes, kernels::Metric metric, int64_t k,
                     int64_t partitions);

}  // namespace kinjo::join
