// The other direction of a mutual join of two tables: the right rows that matched become the left
// side of an exact join whose right side is the left one.
#pragma once

#include <cstdint>
#include <vector>

#include "join/plan.h"

namespace kinjo::join {

/// The plan that finds the k nearest left rows, by their ordinals, of the right rows at `addresses`
/// (rising), which are its left rows in this order. It goes by the metric, the range and the memory
/// of `plan`. `addresses` must outlive it.
JoinPlan MakeReversePlan(const JoinPlan& plan, const std::vector<uint64_t>* addresses);

}  // namespace kinjo::join
