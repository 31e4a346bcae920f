#include "predicate/operand.h"

#include <algorithm>
#include <utility>

#include "arrow/array/util.h"
#include "predicate/cast_value.h"
#include "predicate/evaluate.h"
#include "predicate/literal_fit.h"
#include "predicate/position_error.h"

namespace kinjo::predicate {

namespace {

bool IsChecked(const Expression& node) {
  switch (node.kind) {
    case ExpressionKind::kAdd:
    case ExpressionKind::kSubtract:
    case ExpressionKind::kMultiply:
    case ExpressionKind::kDivide:
    case ExpressionKind::kModulo:
    case ExpressionKind::kNegate:
      return !IsFloat(*node.type);
    case ExpressionKind::kCast:
      return CastCanFail(node.inputs.front()->type, node.type);
    case ExpressionKind::kFunction:
      return node.values == nullptr;
    default:
      return false;
  }
}

}  // namespace

Operand MakeLiteral(std::shared_ptr<arrow::Scalar> scalar, int64_t position) {
  auto node = std::make_shared<Expression>();
  node->type = scalar->type;
  node->literal = std::move(scalar);
  node->position = position;
  return {std::move(node)};
}

Operand MakeNull(const TypePtr& type, int64_t position) {
  return MakeLiteral(arrow::MakeNullScalar(type), position);
}

arrow::Result<Operand> MakeNode(Expression node) {
  const auto is_literal = [](const ExpressionPtr& input) {
    return input->kind == ExpressionKind::kLiteral;
  };
  const bool is_constant = std::all_of(node.inputs.begin(), node.inputs.end(), is_literal);
  if (is_constant && node.kind != ExpressionKind::kColumn) {
    ARROW_ASSIGN_OR_RAISE(auto value, EvaluateConstant(node));
    return MakeLiteral(std::move(value), node.position);
  }
  node.node_count = 1;
  node.can_fail = IsChecked(node);
  for (const ExpressionPtr& input : node.inputs) {
    node.node_count += input->node_count;
    node.can_fail = node.can_fail || input->can_fail;
  }
  if (node.node_count > kMaximumNodes) {
    return InvalidAt(node.position, "too large: more than ", kMaximumNodes,
                     " operations; a long list of values belongs into IN (...)");
  }
  return Operand{std::make_shared<const Expression>(std::move(node))};
}

arrow::Result<Operand> MakeNode(ExpressionKind kind, const TypePtr& type,
                                std::vector<ExpressionPtr> inputs, int64_t position) {
  Expression node;
  node.kind = kind;
  node.type = type;
  node.inputs = std::move(inputs);
  node.position = position;
  return MakeNode(std::move(node));
}

arrow::Result<Operand> CastTo(const TypePtr& type, const Operand& operand, int64_t position) {
  if (operand.type()->Equals(*type) && !operand.number.has_value()) return operand;
  if (operand.is_null()) return MakeNull(type, position);
  if (operand.number.has_value() && IsNumber(*type)) {
    Expression column;
    column.type = type;
    const Operand target{std::make_shared<const Expression>(std::move(column))};
    ARROW_ASSIGN_OR_RAISE(const auto fit, FitLiteral(operand, target));
    if (fit.has_value() && fit->place == LiteralPlace::kExact)
      return MakeLiteral(fit->value, position);
  }
  if (operand.type()->Equals(*type)) return operand;
  ARROW_ASSIGN_OR_RAISE(const auto none, arrow::MakeEmptyArray(operand.type()));
  if (!CastValue(none, type).ok()) {
    return InvalidAt(position, "a value of type ", operand.type()->ToString(), " can't be cast to ",
                     type->ToString());
  }
  return MakeNode(ExpressionKind::kCast, type, {operand.expression}, position);
}

arrow::Result<Operand> RequireBoolean(const Operand& operand, const char* what) {
  if (operand.type()->id() == arrow::Type::BOOL) return operand;
  if (operand.type()->id() == arrow::Type::NA)
    return MakeNull(arrow::boolean(), operand.position());
  return InvalidAt(operand.position(), "expected a condition for ", what,
                   ", found a value of type ", operand.type()->ToString());
}

}  // namespace kinjo::predicate
