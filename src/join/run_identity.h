// What decides the answer of a run, as pairs of words: both sides and every option that can change
// a row. A run that goes on where another ended must agree in all of them.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "join/plan.h"

namespace kinjo::join {

/// "left uri", "left rows", ..., "right version", ..., "k", "metric", ... A side that can't be read
/// again is `invalid`, a join that gives pairs is `not_supported`. Reads no row.
arrow::Result<std::vector<tabular::Trait>> IdentifyRun(const JoinPlan& plan);

/// How the runs differ, in words: "right version was 7 and is 8, k was 10 and is 5"; "" when they
/// don't.
std::string Differences(const std::vector<tabular::Trait>& was,
                        const std::vector<tabular::Trait>& is);

}  // namespace kinjo::join
