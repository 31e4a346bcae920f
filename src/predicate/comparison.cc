#include "predicate/comparison.h"

#include <string>
#include <utility>

#include "arrow/array/builder_base.h"
#include "arrow/compute/api_scalar.h"
#include "arrow/compute/expression.h"
#include "predicate/evaluate.h"
#include "predicate/literal_fit.h"
#include "predicate/position_error.h"

namespace kinjo::predicate {

namespace {

ExpressionKind Mirrored(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::kLess:
      return ExpressionKind::kGreater;
    case ExpressionKind::kLessEqual:
      return ExpressionKind::kGreaterEqual;
    case ExpressionKind::kGreater:
      return ExpressionKind::kLess;
    case ExpressionKind::kGreaterEqual:
      return ExpressionKind::kLessEqual;
    default:
      return kind;
  }
}

bool IsAbove(ExpressionKind kind) {
  return kind == ExpressionKind::kGreater || kind == ExpressionKind::kGreaterEqual;
}

/// `always` for every value, null for null.
arrow::Result<Operand> Constantly(bool always, const Operand& value, int64_t position) {
  const TypePtr& type = arrow::boolean();
  ARROW_ASSIGN_OR_RAISE(Operand test,
                        MakeNode(ExpressionKind::kIsNull, type, {value.expression}, position));
  if (always) {
    ARROW_ASSIGN_OR_RAISE(test, MakeNode(ExpressionKind::kNot, type, {test.expression}, position));
  }
  return MakeNode(always ? ExpressionKind::kOr : ExpressionKind::kAnd, type,
                  {test.expression, MakeNull(type, position).expression}, position);
}

/// The comparison of `value` with a literal of which `fit` says where it lies.
arrow::Result<Operand> CompareFitted(ExpressionKind kind, const Operand& value,
                                     const LiteralFit& fit, int64_t literal_position,
                                     int64_t position) {
  if (fit.place != LiteralPlace::kExact) {
    if (kind == ExpressionKind::kEqual) return Constantly(false, value, position);
    if (kind == ExpressionKind::kNotEqual) return Constantly(true, value, position);
  }
  if (fit.place == LiteralPlace::kBelow) return Constantly(IsAbove(kind), value, position);
  if (fit.place == LiteralPlace::kAbove) return Constantly(!IsAbove(kind), value, position);
  if (fit.place == LiteralPlace::kBetween)
    kind = IsAbove(kind) ? ExpressionKind::kGreater : ExpressionKind::kLessEqual;
  const Operand literal = MakeLiteral(fit.value, literal_position);
  return MakeNode(kind, arrow::boolean(), {value.expression, literal.expression}, position);
}

arrow::Status RequireComparable(const Operand& operand) {
  if (IsComparable(*operand.type())) return arrow::Status::OK();
  return InvalidAt(operand.position(), "a value of type ", operand.type()->ToString(),
                   " can't be compared");
}

arrow::Status CantCompare(const Operand& left, const Operand& right, int64_t position) {
  return InvalidAt(position, "can't compare ", left.type()->ToString(), " with ",
                   right.type()->ToString(), "; CAST one of them");
}

bool IsNullType(const Operand& operand) {
  return operand.is_null() || operand.type()->id() == arrow::Type::NA;
}

}  // namespace

arrow::Result<Operand> BindComparison(ExpressionKind kind, const Operand& left,
                                      const Operand& right, int64_t position) {
  if (IsNullType(left) || IsNullType(right)) return MakeNull(arrow::boolean(), position);
  ARROW_RETURN_NOT_OK(RequireComparable(left));
  ARROW_RETURN_NOT_OK(RequireComparable(right));
  if (right.is_literal()) {
    ARROW_ASSIGN_OR_RAISE(const auto fit, FitLiteral(right, left));
    if (fit.has_value()) return CompareFitted(kind, left, *fit, right.position(), position);
  }
  if (left.is_literal()) {
    ARROW_ASSIGN_OR_RAISE(const auto fit, FitLiteral(left, right));
    if (fit.has_value())
      return CompareFitted(Mirrored(kind), right, *fit, left.position(), position);
  }
  const TypePtr type = CommonType(left.type(), right.type());
  if (type == nullptr) return CantCompare(left, right, position);
  ARROW_ASSIGN_OR_RAISE(const Operand left_cast, CastTo(type, left, position));
  ARROW_ASSIGN_OR_RAISE(const Operand right_cast, CastTo(type, right, position));
  return MakeNode(kind, arrow::boolean(), {left_cast.expression, right_cast.expression}, position);
}

arrow::Result<Operand> BindSame(const Operand& left, const Operand& right, int64_t position) {
  const TypePtr& type = arrow::boolean();
  const auto is_null = [&](const Operand& operand) {
    return MakeNode(ExpressionKind::kIsNull, type, {operand.expression}, position);
  };
  if (IsNullType(left)) return is_null(right);
  if (IsNullType(right)) return is_null(left);
  ARROW_ASSIGN_OR_RAISE(const Operand equal,
                        BindComparison(ExpressionKind::kEqual, left, right, position));
  ARROW_ASSIGN_OR_RAISE(Operand surely,
                        MakeNode(ExpressionKind::kIsTrue, type, {equal.expression}, position));
  if (left.is_literal() || right.is_literal()) return surely;
  ARROW_ASSIGN_OR_RAISE(const Operand left_null, is_null(left));
  ARROW_ASSIGN_OR_RAISE(const Operand right_null, is_null(right));
  ARROW_ASSIGN_OR_RAISE(const Operand both,
                        MakeNode(ExpressionKind::kAnd, type,
                                 {left_null.expression, right_null.expression}, position));
  return MakeNode(ExpressionKind::kOr, type, {surely.expression, both.expression}, position);
}

arrow::Result<Operand> BindBetween(const Operand& value, const Operand& low, const Operand& high,
                                   int64_t position) {
  ARROW_ASSIGN_OR_RAISE(const Operand above,
                        BindComparison(ExpressionKind::kGreaterEqual, value, low, position));
  ARROW_ASSIGN_OR_RAISE(const Operand below,
                        BindComparison(ExpressionKind::kLessEqual, value, high, position));
  return MakeNode(ExpressionKind::kAnd, arrow::boolean(), {above.expression, below.expression},
                  position);
}

arrow::Result<std::shared_ptr<arrow::Array>> MakeValues(const arrow::ScalarVector& scalars,
                                                        const TypePtr& type) {
  ARROW_ASSIGN_OR_RAISE(const auto builder, arrow::MakeBuilder(type));
  ARROW_RETURN_NOT_OK(builder->AppendScalars(scalars));
  if (IsFloat(*type)) {
    const auto zero = [&](const char* text) { return *arrow::Scalar::Parse(type, text); };
    const auto is_zero = [&](const std::shared_ptr<arrow::Scalar>& scalar) {
      return scalar->Equals(*zero("0")) || scalar->Equals(*zero("-0"));
    };
    for (const auto& scalar : scalars) {
      if (!is_zero(scalar)) continue;
      ARROW_RETURN_NOT_OK(builder->AppendScalars({zero("0"), zero("-0")}));
      break;
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto all, builder->Finish());
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum once, CallArrow("unique", {all}));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum order, CallArrow("array_sort_indices", {once}));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum sorted, CallArrow("array_take", {once, order}));
  return sorted.make_array();
}

namespace {

arrow::Result<Operand> MakeIn(const Operand& value, const arrow::ScalarVector& scalars,
                              bool have_null, int64_t position) {
  Expression node;
  node.kind = ExpressionKind::kIn;
  node.type = arrow::boolean();
  node.inputs = {value.expression};
  node.position = position;
  node.values_have_null = have_null;
  ARROW_ASSIGN_OR_RAISE(node.values, MakeValues(scalars, value.type()));
  namespace compute = arrow::compute;
  const compute::Expression search = compute::call(
      "is_in", {compute::field_ref(0)},
      compute::SetLookupOptions(node.values, compute::SetLookupOptions::INCONCLUSIVE));
  const arrow::Schema input({arrow::field("value", value.type())});
  ARROW_ASSIGN_OR_RAISE(auto bound, search.Bind(input));
  node.membership = std::make_shared<const compute::Expression>(std::move(bound));
  return MakeNode(std::move(node));
}

}  // namespace

arrow::Result<Operand> BindIn(const Operand& value, const std::vector<Operand>& items,
                              int64_t position) {
  if (IsNullType(value)) return MakeNull(arrow::boolean(), position);
  ARROW_RETURN_NOT_OK(RequireComparable(value));
  arrow::ScalarVector scalars;
  bool have_null = false;
  std::vector<ExpressionPtr> alternatives;
  for (const Operand& item : items) {
    if (item.is_null()) {
      have_null = true;
      continue;
    }
    if (item.is_literal()) {
      ARROW_ASSIGN_OR_RAISE(const auto fit, FitLiteral(item, value));
      if (fit.has_value()) {
        if (fit->place == LiteralPlace::kExact) scalars.push_back(fit->value);
        continue;
      }
    }
    ARROW_ASSIGN_OR_RAISE(const Operand equal,
                          BindComparison(ExpressionKind::kEqual, value, item, position));
    alternatives.push_back(equal.expression);
  }
  Operand found;
  if (!scalars.empty()) {
    ARROW_ASSIGN_OR_RAISE(found, MakeIn(value, scalars, have_null, position));
  } else if (have_null) {
    found = MakeNull(arrow::boolean(), position);
  } else {
    ARROW_ASSIGN_OR_RAISE(found, Constantly(false, value, position));
  }
  if (alternatives.empty()) return found;
  alternatives.insert(alternatives.begin(), found.expression);
  return MakeNode(ExpressionKind::kOr, arrow::boolean(), std::move(alternatives), position);
}

}  // namespace kinjo::predicate
