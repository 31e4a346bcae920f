// A filter that is evaluated beside the search: on the rows of each partition when that is read,
// instead of once on all right rows. Pays where few partitions of a large index are visited.
#pragma once

#include <cstdint>
#include <memory>

#include "base/cancel_token.h"
#include "exec/ann_ivf_batch.h"
#include "join/plan.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// Whether the answer is the same without knowing beforehand which rows pass: a fixed number of
/// probes, a predicate that can't fail on a row that isn't met, and nothing beside the index that
/// asks for the rows.
bool MayFilterBeside(const JoinPlan& plan);

/// The filter of a run that goes that way, else null. The plan and the counters outlive it.
std::shared_ptr<const exec::PartitionFilter> MakePartitionFilter(const JoinPlan& plan,
                                                                 const base::CancelToken& cancel,
                                                                 RunCounters* counters);

/// What the threads hold of the filter's columns at a time.
int64_t PartitionFilterBytes(const JoinPlan& plan, int64_t partition_rows_max);

}  // namespace kinjo::join
