// The rows that a fast search may find: those of fragments that the index covers.
#pragma once

#include <memory>

#include "dataset/row_mask.h"
#include "join/plan.h"

namespace kinjo::join {

/// Those among `rows`, or, null, among all. Requires: the plan uses an index.
std::shared_ptr<const dataset::RowMask> CoveredRows(const JoinPlan& plan,
                                                    const dataset::RowMask* rows);

}  // namespace kinjo::join
