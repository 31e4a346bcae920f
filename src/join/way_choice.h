// Which of the ways to one answer a plan goes: each is given its memory and its estimate, and the
// cheapest of those that fit is taken. The path (index or exact) is decided before and elsewhere.
#pragma once

#include <string>

#include "base/error.h"
#include "join/plan.h"

namespace kinjo::join {

/// Sets the plan's ways, memory and considered ways; again whenever probes, candidates or the rows
/// that pass have changed. `capacity`, with the smallest limit that would do, when none fits.
arrow::Status ChooseWays(JoinPlan* plan);

/// The same for a plan with a recall target and an index, whose settings will be chosen: whatever
/// they are has to fit.
arrow::Status ChooseWidestWays(JoinPlan* plan);

/// The text of the environment variable KINJO_WAYS; empty when it isn't set.
std::string ForcedWaysText();

/// The ways that KINJO_WAYS forces: "exact=own,index=streamed,filter=beside", each part at most
/// once (temporary=build or temporary=scan, which change the answer, are join/temporary_index.h's)
/// (docs/planning.md). Benches and tests use it.
arrow::Result<ForcedWays> ForcedWaysOf(const std::string& text);

}  // namespace kinjo::join
