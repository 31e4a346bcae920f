#include "predicate/evaluate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "arrow/array/builder_primitive.h"
#include "arrow/array/util.h"
#include "arrow/compute/api_scalar.h"
#include "arrow/compute/exec.h"
#include "arrow/compute/expression.h"
#include "arrow/util/checked_cast.h"
#include "predicate/batch_columns.h"
#include "predicate/cast_value.h"
#include "predicate/compare_values.h"
#include "predicate/functions.h"
#include "predicate/position_error.h"
#include "predicate/value_type.h"

namespace kinjo::predicate {

namespace {

using arrow::Datum;
using arrow::internal::checked_cast;

const std::shared_ptr<arrow::Scalar>& Boolean(bool value) {
  static const std::shared_ptr<arrow::Scalar> no = std::make_shared<arrow::BooleanScalar>(false);
  static const std::shared_ptr<arrow::Scalar> yes = std::make_shared<arrow::BooleanScalar>(true);
  return value ? yes : no;
}

/// Integers and decimals fail on overflow and division by zero; floats give infinities and NaN.
const char* ArithmeticFunction(ExpressionKind kind, bool is_float) {
  switch (kind) {
    case ExpressionKind::kAdd:
      return is_float ? "add" : "add_checked";
    case ExpressionKind::kSubtract:
      return is_float ? "subtract" : "subtract_checked";
    case ExpressionKind::kMultiply:
      return is_float ? "multiply" : "multiply_checked";
    case ExpressionKind::kDivide:
      return is_float ? "divide" : "divide_checked";
    case ExpressionKind::kModulo:
      return is_float ? "remainder" : "remainder_checked";
    default:
      return is_float ? "negate" : "negate_checked";
  }
}

arrow::Result<Datum> ApplyLike(const Expression& node, const std::vector<Datum>& inputs) {
  const auto& pattern = checked_cast<const arrow::BaseBinaryScalar&>(*inputs[1].scalar());
  const arrow::compute::MatchSubstringOptions options(pattern.value->ToString(),
                                                      node.kind == ExpressionKind::kIlike);
  return CallArrow("match_like", {inputs[0]}, &options);
}

arrow::Result<Datum> ApplyIn(const Expression& node, const Datum& input) {
  const int64_t length = input.is_array() ? input.length() : 1;
  ARROW_ASSIGN_OR_RAISE(Datum found,
                        arrow::compute::ExecuteScalarExpression(
                            *node.membership, arrow::compute::ExecBatch({input}, length)));
  if (!node.values_have_null) return found;
  return CallArrow("or_kleene", {found, Datum(arrow::MakeNullScalar(arrow::boolean()))});
}

arrow::Result<Datum> Apply(const Expression& node, const std::vector<Datum>& inputs) {
  switch (node.kind) {
    case ExpressionKind::kLiteral:
      return Datum(node.literal);
    case ExpressionKind::kNot:
      return CallArrow("invert", inputs);
    case ExpressionKind::kEqual:
    case ExpressionKind::kNotEqual:
    case ExpressionKind::kLess:
    case ExpressionKind::kLessEqual:
    case ExpressionKind::kGreater:
    case ExpressionKind::kGreaterEqual:
      return CompareValues(node.kind, inputs[0], inputs[1]);
    case ExpressionKind::kIn:
      return ApplyIn(node, inputs[0]);
    case ExpressionKind::kIsNull:
      return CallArrow("is_null", inputs);
    case ExpressionKind::kIsTrue:
      return CallArrow("coalesce", {inputs[0], Datum(Boolean(false))});
    case ExpressionKind::kIsFalse: {
      ARROW_ASSIGN_OR_RAISE(const Datum inverted, CallArrow("invert", inputs));
      return CallArrow("coalesce", {inverted, Datum(Boolean(false))});
    }
    case ExpressionKind::kIsNan:
      return CallArrow("is_nan", inputs);
    case ExpressionKind::kLike:
    case ExpressionKind::kIlike:
      return ApplyLike(node, inputs);
    case ExpressionKind::kAdd:
    case ExpressionKind::kSubtract:
    case ExpressionKind::kMultiply:
    case ExpressionKind::kDivide:
    case ExpressionKind::kModulo:
    case ExpressionKind::kNegate:
      return CallArrow(ArithmeticFunction(node.kind, IsFloat(*inputs[0].type())), inputs);
    case ExpressionKind::kCast:
      return CastValue(inputs[0], node.type);
    case ExpressionKind::kFunction:
      return ApplyFunction(node, inputs);
    case ExpressionKind::kColumn:
    case ExpressionKind::kAnd:
    case ExpressionKind::kOr:
      break;
  }
  return base::Internal("a node of a predicate that has no value of its own");
}

/// Of one evaluation. Trees are at most some hundred levels deep, so it may recurse.
class Evaluation {
 public:
  explicit Evaluation(BatchColumns* columns) : columns_(columns) {}

  arrow::Result<Datum> Value(const Expression& node) {
    if (node.kind == ExpressionKind::kColumn) {
      ARROW_ASSIGN_OR_RAISE(const auto column, columns_->Get(node));
      return Datum(column);
    }
    if (node.kind == ExpressionKind::kAnd || node.kind == ExpressionKind::kOr) return Logic(node);
    std::vector<Datum> inputs;
    for (const auto& input : node.inputs) {
      ARROW_ASSIGN_OR_RAISE(Datum value, Value(*input));
      inputs.push_back(std::move(value));
    }
    return ApplyNode(node, inputs);
  }

 private:
  arrow::Result<Datum> Logic(const Expression& node) {
    const bool is_and = node.kind == ExpressionKind::kAnd;
    const char* function = is_and ? "and_kleene" : "or_kleene";
    ARROW_ASSIGN_OR_RAISE(Datum result, Value(*node.inputs.front()));
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      const Expression& input = *node.inputs[i];
      arrow::Result<Datum> next =
          input.can_fail ? WhereUndecided(input, result, is_and) : Value(input);
      ARROW_RETURN_NOT_OK(next);
      ARROW_ASSIGN_OR_RAISE(result, CallArrow(function, {result, *next}));
    }
    return result;
  }

  /// The input's values where `known` isn't false (AND) or true (OR); what is elsewhere decides
  /// nothing any more.
  arrow::Result<Datum> WhereUndecided(const Expression& input, const Datum& known, bool is_and) {
    Datum decided(Boolean(!is_and));
    Datum open = known;
    if (!is_and) {
      ARROW_ASSIGN_OR_RAISE(open, CallArrow("invert", {known}));
    }
    ARROW_ASSIGN_OR_RAISE(const Datum mask, CallArrow("coalesce", {open, Datum(Boolean(true))}));
    if (mask.is_scalar()) {
      const bool all = checked_cast<const arrow::BooleanScalar&>(*mask.scalar()).value;
      return all ? Value(input) : decided;
    }
    const std::shared_ptr<arrow::Array> rows = mask.make_array();
    const auto& flags = checked_cast<const arrow::BooleanArray&>(*rows);
    const int64_t count = flags.true_count();
    if (count == 0) return decided;
    if (count == flags.length()) return Value(input);
    BatchColumns open_rows(columns_, flags);
    ARROW_ASSIGN_OR_RAISE(Datum values, Evaluation(&open_rows).Value(input));
    if (values.is_scalar()) return values;
    return Scattered(*values.make_array(), flags, !is_and);
  }

  /// Puts the values of the flagged rows to their places, `other` to the others.
  static arrow::Result<Datum> Scattered(const arrow::Array& values,
                                        const arrow::BooleanArray& flags, bool other) {
    const auto& booleans = checked_cast<const arrow::BooleanArray&>(values);
    arrow::BooleanBuilder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(flags.length()));
    int64_t next = 0;
    for (int64_t row = 0; row < flags.length(); ++row) {
      if (!flags.Value(row)) {
        builder.UnsafeAppend(other);
      } else if (booleans.IsNull(next)) {
        builder.UnsafeAppendNull();
        ++next;
      } else {
        builder.UnsafeAppend(booleans.Value(next));
        ++next;
      }
    }
    ARROW_ASSIGN_OR_RAISE(const auto scattered, builder.Finish());
    return Datum(scattered);
  }

  BatchColumns* columns_;
};

}  // namespace

arrow::Result<Datum> CallArrow(const char* function, const std::vector<Datum>& inputs,
                               const arrow::compute::FunctionOptions* options) {
  return arrow::compute::CallFunction(function, inputs, options);
}

arrow::Result<Datum> ApplyNode(const Expression& node, const std::vector<Datum>& inputs) {
  arrow::Result<Datum> value = Apply(node, inputs);
  if (value.ok()) return value;
  const arrow::Status& status = value.status();
  if (!status.IsInvalid() && !status.IsNotImplemented() && !status.IsTypeError()) return status;
  return InvalidAt(node.position, base::MessageOf(status));
}

arrow::Result<Datum> EvaluateRows(const Expression& expression, const arrow::RecordBatch& batch) {
  BatchColumns columns(batch);
  return Evaluation(&columns).Value(expression);
}

arrow::Result<std::shared_ptr<arrow::Scalar>> EvaluateConstant(const Expression& expression) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector{});
  ARROW_ASSIGN_OR_RAISE(const Datum value, EvaluateRows(expression, *batch));
  if (value.is_scalar()) return value.scalar();
  return value.make_array()->GetScalar(0);
}

}  // namespace kinjo::predicate
