// Typing of arithmetic: integers are computed in int64, floats in float64, decimals exactly.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "predicate/operand.h"

namespace kinjo::predicate {

/// `kind` is kAdd to kModulo.
arrow::Result<Operand> BindArithmetic(ExpressionKind kind, const Operand& left,
                                      const Operand& right, int64_t position);

/// -value.
arrow::Result<Operand> BindNegation(const Operand& value, int64_t position);

}  // namespace kinjo::predicate
