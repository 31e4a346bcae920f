// Comparisons in the order of Lance and DataFusion, in which NaN equals itself and is above all
// other numbers. Arrow's kernels know only IEEE's order, in which NaN has no place.
#pragma once

#include "arrow/datum.h"
#include "base/error.h"
#include "predicate/expression.h"

namespace kinjo::predicate {

/// `kind` is one of the six comparisons; both sides have one type. Null where either is.
arrow::Result<arrow::Datum> CompareValues(ExpressionKind kind, const arrow::Datum& left,
                                          const arrow::Datum& right);

}  // namespace kinjo::predicate
