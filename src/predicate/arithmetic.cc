#include "predicate/arithmetic.h"

#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "predicate/evaluate.h"
#include "predicate/position_error.h"

namespace kinjo::predicate {

namespace {

constexpr int32_t kMaximumPrecision = 76;

arrow::Status RequireNumber(const Operand& operand) {
  if (IsNumber(*operand.type()) || operand.type()->id() == arrow::Type::NA)
    return arrow::Status::OK();
  return InvalidAt(operand.position(), "expected a number to compute with, found a value of type ",
                   operand.type()->ToString());
}

/// The operand as a decimal of 256 bits, a literal with no more digits than it has.
arrow::Result<Operand> AsDecimal(const Operand& operand, int64_t position) {
  if (operand.number.has_value()) {
    const int64_t scale = operand.number->fraction_digits();
    const int64_t precision = std::max<int64_t>(operand.number->integer_digits() + scale, 1);
    if (precision > kMaximumPrecision)
      return InvalidAt(operand.position(), "a number of more than 76 digits; CAST it to DOUBLE");
    return CastTo(arrow::decimal256(static_cast<int32_t>(precision), static_cast<int32_t>(scale)),
                  operand, position);
  }
  const TypePtr decimal = DecimalOf(*operand.type());
  const auto& type = static_cast<const arrow::DecimalType&>(*decimal);
  return CastTo(arrow::decimal256(type.precision(), type.scale()), operand, position);
}

/// Decimals meet integers and written numbers as decimals, floats as float64.
TypePtr TypeOfComputation(const Operand& left, const Operand& right) {
  const bool is_decimal = IsDecimal(*left.type()) || IsDecimal(*right.type());
  const auto is_exact = [](const Operand& operand) {
    return operand.number.has_value() || !IsFloat(*operand.type());
  };
  if (is_decimal && is_exact(left) && is_exact(right)) return nullptr;
  if (is_decimal || IsFloat(*left.type()) || IsFloat(*right.type())) return arrow::float64();
  return arrow::int64();
}

/// A node whose type is what Arrow makes of its inputs' types.
arrow::Result<Operand> MakeComputed(ExpressionKind kind, std::vector<ExpressionPtr> inputs,
                                    int64_t position) {
  Expression node;
  node.kind = kind;
  node.position = position;
  std::vector<arrow::Datum> none;
  for (const ExpressionPtr& input : inputs) {
    ARROW_ASSIGN_OR_RAISE(auto empty, arrow::MakeEmptyArray(input->type));
    none.emplace_back(std::move(empty));
  }
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum result, ApplyNode(node, none));
  node.type = result.type();
  node.inputs = std::move(inputs);
  return MakeNode(std::move(node));
}

}  // namespace

arrow::Result<Operand> BindArithmetic(ExpressionKind kind, const Operand& left,
                                      const Operand& right, int64_t position) {
  ARROW_RETURN_NOT_OK(RequireNumber(left));
  ARROW_RETURN_NOT_OK(RequireNumber(right));
  if (left.is_null() || left.type()->id() == arrow::Type::NA)
    return MakeNull(right.type(), position);
  if (right.is_null() || right.type()->id() == arrow::Type::NA)
    return MakeNull(left.type(), position);
  const TypePtr type = TypeOfComputation(left, right);
  const auto convert = [&](const Operand& operand) {
    return type == nullptr ? AsDecimal(operand, position) : CastTo(type, operand, position);
  };
  ARROW_ASSIGN_OR_RAISE(const Operand left_cast, convert(left));
  ARROW_ASSIGN_OR_RAISE(const Operand right_cast, convert(right));
  return MakeComputed(kind, {left_cast.expression, right_cast.expression}, position);
}

arrow::Result<Operand> BindNegation(const Operand& value, int64_t position) {
  ARROW_RETURN_NOT_OK(RequireNumber(value));
  if (value.is_null() || value.type()->id() == arrow::Type::NA) return value;
  Operand operand = value;
  if (!IsDecimal(*value.type())) {
    const TypePtr type = IsFloat(*value.type()) ? arrow::float64() : arrow::int64();
    ARROW_ASSIGN_OR_RAISE(operand, CastTo(type, value, position));
  }
  return MakeComputed(ExpressionKind::kNegate, {operand.expression}, position);
}

}  // namespace kinjo::predicate
