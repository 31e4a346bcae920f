// Output batches of a join that gives clusters: the left rows as they are, each with the cluster it
// is in.
#pragma once

#include "base/cancel_token.h"
#include "join/left_block.h"
#include "join/pairing.h"
#include "join/plan.h"
#include "join/run_counters.h"
#include "stream/result_stream.h"

namespace kinjo::join {

/// Emits the rows of a block, in batches as ResultBatches makes them. `pairing` has decided.
arrow::Status EmitClusters(const JoinPlan& plan, const LeftBlock& block, Pairing* pairing,
                           const base::CancelToken& cancel, RunCounters* counters,
                           const stream::ResultStream::Emit& emit);

}  // namespace kinjo::join
