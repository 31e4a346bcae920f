// Typing of comparisons and of what is made of them. A comparison of a value with a literal stays
// in the value's type; else both sides go to a common one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "predicate/operand.h"

namespace kinjo::predicate {

/// `kind` is one of the six comparisons. Types that don't meet are `invalid`.
arrow::Result<Operand> BindComparison(ExpressionKind kind, const Operand& left,
                                      const Operand& right, int64_t position);

/// left IS NOT DISTINCT FROM right: equal, or both null.
arrow::Result<Operand> BindSame(const Operand& left, const Operand& right, int64_t position);

/// value BETWEEN low AND high.
arrow::Result<Operand> BindBetween(const Operand& value, const Operand& low, const Operand& high,
                                   int64_t position);

/// value IN (items). Requires: an item.
arrow::Result<Operand> BindIn(const Operand& value, const std::vector<Operand>& items,
                              int64_t position);

/// Scalars as Expression::values holds them.
arrow::Result<std::shared_ptr<arrow::Array>> MakeValues(const arrow::ScalarVector& scalars,
                                                        const TypePtr& type);

}  // namespace kinjo::predicate
