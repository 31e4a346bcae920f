// A typed value on its way into the tree, and the making of nodes: constants are computed at once,
// and what a tree may cost is bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "predicate/decimal_number.h"
#include "predicate/expression.h"
#include "predicate/value_type.h"

namespace kinjo::predicate {

using ExpressionPtr = std::shared_ptr<const Expression>;

/// Bigger trees (Expression::node_count) are refused.
constexpr int64_t kMaximumNodes = 100'000;

struct Operand {
  ExpressionPtr expression;
  /// Of a literal that was written as a number: its exact value.
  std::optional<DecimalNumber> number = std::nullopt;
  /// A float16 column, of which the expression's type doesn't tell.
  bool is_half = false;

  const TypePtr& type() const { return expression->type; }
  int64_t position() const { return expression->position; }
  bool is_literal() const { return expression->kind == ExpressionKind::kLiteral; }
  bool is_null() const { return is_literal() && !expression->literal->is_valid; }
};

Operand MakeLiteral(std::shared_ptr<arrow::Scalar> scalar, int64_t position);
Operand MakeNull(const TypePtr& type, int64_t position);

/// Makes the node of `node`'s kind, type and inputs: fills in `node_count` and `can_fail` and
/// computes it if all inputs are literals. Too many nodes, and constants that can't be computed
/// are `invalid`.
arrow::Result<Operand> MakeNode(Expression node);
arrow::Result<Operand> MakeNode(ExpressionKind kind, const TypePtr& type,
                                std::vector<ExpressionPtr> inputs, int64_t position);

/// `operand` in `type`, by a cast unless it has the type; a null literal takes any. `invalid` when
/// there is no such cast.
arrow::Result<Operand> CastTo(const TypePtr& type, const Operand& operand, int64_t position);

/// The operand as a boolean, for AND, OR, NOT and the whole predicate; `invalid` if it is another
/// type, naming `what` needs it.
arrow::Result<Operand> RequireBoolean(const Operand& operand, const char* what);

}  // namespace kinjo::predicate
