#include "predicate/compare_values.h"

#include <cmath>
#include <utility>

#include "arrow/scalar.h"
#include "arrow/util/checked_cast.h"
#include "predicate/evaluate.h"
#include "predicate/value_type.h"

namespace kinjo::predicate {

namespace {

using arrow::Datum;

const char* FunctionOf(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::kEqual:
      return "equal";
    case ExpressionKind::kNotEqual:
      return "not_equal";
    case ExpressionKind::kLess:
      return "less";
    case ExpressionKind::kLessEqual:
      return "less_equal";
    case ExpressionKind::kGreater:
      return "greater";
    default:
      return "greater_equal";
  }
}

/// A literal other than NaN: the usual case, in which half of the work falls away.
bool IsNeverNan(const Datum& value) {
  if (!value.is_scalar() || !value.scalar()->is_valid) return false;
  using arrow::internal::checked_cast;
  if (value.type()->id() == arrow::Type::FLOAT)
    return !std::isnan(checked_cast<const arrow::FloatScalar&>(*value.scalar()).value);
  return !std::isnan(checked_cast<const arrow::DoubleScalar&>(*value.scalar()).value);
}

arrow::Result<Datum> IsNan(const Datum& value) { return CallArrow("is_nan", {value}); }

/// left <= right: also if right is NaN, since nothing is above it.
arrow::Result<Datum> FloatLessEqual(const Datum& left, const Datum& right) {
  ARROW_ASSIGN_OR_RAISE(Datum result, CallArrow("less_equal", {left, right}));
  if (IsNeverNan(right)) return result;
  ARROW_ASSIGN_OR_RAISE(const Datum nan, IsNan(right));
  return CallArrow("or", {result, nan});
}

arrow::Result<Datum> FloatEqual(const Datum& left, const Datum& right) {
  ARROW_ASSIGN_OR_RAISE(Datum result, CallArrow("equal", {left, right}));
  if (IsNeverNan(left) || IsNeverNan(right)) return result;
  ARROW_ASSIGN_OR_RAISE(const Datum left_nan, IsNan(left));
  ARROW_ASSIGN_OR_RAISE(const Datum right_nan, IsNan(right));
  ARROW_ASSIGN_OR_RAISE(const Datum both, CallArrow("and", {left_nan, right_nan}));
  return CallArrow("or", {result, both});
}

arrow::Result<Datum> Inverted(arrow::Result<Datum> value) {
  if (!value.ok()) return value;
  return CallArrow("invert", {*value});
}

arrow::Result<Datum> CompareFloats(ExpressionKind kind, const Datum& left, const Datum& right) {
  switch (kind) {
    case ExpressionKind::kEqual:
      return FloatEqual(left, right);
    case ExpressionKind::kNotEqual:
      return Inverted(FloatEqual(left, right));
    case ExpressionKind::kLessEqual:
      return FloatLessEqual(left, right);
    case ExpressionKind::kGreaterEqual:
      return FloatLessEqual(right, left);
    case ExpressionKind::kLess:
      return Inverted(FloatLessEqual(right, left));
    default:
      return Inverted(FloatLessEqual(left, right));
  }
}

}  // namespace

arrow::Result<Datum> CompareValues(ExpressionKind kind, const Datum& left, const Datum& right) {
  if (IsFloat(*left.type())) return CompareFloats(kind, left, right);
  return CallArrow(FunctionOf(kind), {left, right});
}

}  // namespace kinjo::predicate
