#include "predicate/bind.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "predicate/arithmetic.h"
#include "predicate/column_name.h"
#include "predicate/comparison.h"
#include "predicate/evaluate.h"
#include "predicate/functions.h"
#include "predicate/like_pattern.h"
#include "predicate/literal_fit.h"
#include "predicate/operand.h"
#include "predicate/position_error.h"
#include "predicate/temporal_literal.h"

namespace kinjo::predicate {

namespace {

const char* NameOf(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::kAnd:
      return "AND";
    case ExpressionKind::kOr:
      return "OR";
    case ExpressionKind::kNot:
      return "NOT";
    case ExpressionKind::kIsTrue:
      return "IS TRUE";
    default:
      return "IS FALSE";
  }
}

/// int64 if it fits, then uint64, else float64; the exact value goes along.
Operand NumberLiteral(const SyntaxNode& node) {
  DecimalNumber number = *DecimalNumber::Parse(node.text);
  const bool is_plain = node.text.find_first_of(".eE") == std::string::npos;
  std::shared_ptr<arrow::Scalar> scalar;
  if (is_plain) {
    for (const TypePtr& type : {arrow::int64(), arrow::uint64()}) {
      const auto parsed = arrow::Scalar::Parse(type, node.text);
      if (scalar == nullptr && parsed.ok()) scalar = *parsed;
    }
  }
  if (scalar == nullptr) scalar = std::make_shared<arrow::DoubleScalar>(number.ToDouble());
  Operand operand = MakeLiteral(std::move(scalar), node.position);
  operand.number = std::move(number);
  return operand;
}

/// DATE '..', TIMESTAMP '..', TIME '..': a timestamp in the coarsest unit that holds it.
arrow::Result<Operand> TypedLiteral(const SyntaxNode& node) {
  const arrow::DataType& type = *node.type;
  TypePtr target_type = node.type;
  if (type.id() == arrow::Type::TIMESTAMP || type.id() == arrow::Type::DATE32) {
    const std::optional<TemporalText> text = ParseTimestamp(node.text);
    const bool is_date = type.id() == arrow::Type::DATE32;
    if (!text.has_value() || (is_date && !text->date_only)) {
      return InvalidAt(node.position, "expected a ",
                       is_date ? "date like '2024-02-29'" : "time like '2024-02-29 23:59:59.5'",
                       ", found '", node.text, "'");
    }
    if (!is_date) {
      const auto unit = static_cast<arrow::TimeUnit::type>((text->digits + 2) / 3);
      target_type = arrow::timestamp(unit, text->zoned ? "UTC" : "");
    }
  }
  Expression column;
  column.kind = ExpressionKind::kColumn;
  column.type = target_type;
  const Operand target{std::make_shared<const Expression>(std::move(column))};
  const Operand text = MakeLiteral(std::make_shared<arrow::StringScalar>(node.text), node.position);
  ARROW_ASSIGN_OR_RAISE(const auto fit, FitLiteral(text, target));
  if (fit.has_value() && fit->place == LiteralPlace::kExact)
    return MakeLiteral(fit->value, node.position);
  return InvalidAt(node.position, "nanoseconds reach from 1677 to 2262, found '", node.text, "'");
}

class Binder {
 public:
  explicit Binder(const arrow::Schema& schema) : schema_(schema) {}

  arrow::Result<Operand> Visit(const SyntaxNode& node) {
    switch (node.kind) {
      case SyntaxKind::kName:
        return BindColumn(node.names, schema_, node.position);
      case SyntaxKind::kField:
        return Field(node);
      case SyntaxKind::kNumber:
        return NumberLiteral(node);
      case SyntaxKind::kString:
        return MakeLiteral(std::make_shared<arrow::StringScalar>(node.text), node.position);
      case SyntaxKind::kBytes:
        return MakeLiteral(std::make_shared<arrow::BinaryScalar>(node.text), node.position);
      case SyntaxKind::kTrue:
      case SyntaxKind::kFalse:
        return MakeLiteral(std::make_shared<arrow::BooleanScalar>(node.kind == SyntaxKind::kTrue),
                           node.position);
      case SyntaxKind::kNull:
        return MakeNull(arrow::null(), node.position);
      case SyntaxKind::kTyped:
        return TypedLiteral(node);
      case SyntaxKind::kCall:
        return Call(node);
      case SyntaxKind::kList:
        return InvalidAt(node.position, "a list in brackets stands in array_has_any and ",
                         "array_has_all only");
      default:
        break;
    }
    std::vector<Operand> operands;
    for (const SyntaxTree& child : node.children) {
      ARROW_ASSIGN_OR_RAISE(Operand operand, Visit(*child));
      operands.push_back(std::move(operand));
    }
    return Combine(node, operands);
  }

 private:
  arrow::Result<Operand> Combine(const SyntaxNode& node, const std::vector<Operand>& operands) {
    const int64_t position = node.position;
    switch (node.kind) {
      case SyntaxKind::kOperator:
        return Operator(node, operands);
      case SyntaxKind::kDistinct: {
        ARROW_ASSIGN_OR_RAISE(const Operand same, BindSame(operands[0], operands[1], position));
        return MakeNode(ExpressionKind::kNot, arrow::boolean(), {same.expression}, position);
      }
      case SyntaxKind::kIn:
        return BindIn(operands[0], {operands.begin() + 1, operands.end()}, position);
      case SyntaxKind::kBetween:
        return BindBetween(operands[0], operands[1], operands[2], position);
      case SyntaxKind::kLike:
        return Like(node, operands[0], operands[1]);
      case SyntaxKind::kConcat:
        return BindConcat(operands[0], operands[1], position);
      default:
        return CastTo(node.type, operands[0], position);
    }
  }

  static arrow::Result<Operand> Operator(const SyntaxNode& node,
                                         const std::vector<Operand>& operands) {
    switch (node.operation) {
      case ExpressionKind::kAnd:
      case ExpressionKind::kOr:
      case ExpressionKind::kNot:
      case ExpressionKind::kIsTrue:
      case ExpressionKind::kIsFalse:
        return Logic(node, operands);
      case ExpressionKind::kIsNull:
        return MakeNode(ExpressionKind::kIsNull, arrow::boolean(), {operands[0].expression},
                        node.position);
      case ExpressionKind::kNegate:
        return BindNegation(operands[0], node.position);
      case ExpressionKind::kAdd:
      case ExpressionKind::kSubtract:
      case ExpressionKind::kMultiply:
      case ExpressionKind::kDivide:
      case ExpressionKind::kModulo:
        return BindArithmetic(node.operation, operands[0], operands[1], node.position);
      default:
        return BindComparison(node.operation, operands[0], operands[1], node.position);
    }
  }

  static arrow::Result<Operand> Logic(const SyntaxNode& node,
                                      const std::vector<Operand>& operands) {
    std::vector<ExpressionPtr> inputs;
    for (const Operand& operand : operands) {
      ARROW_ASSIGN_OR_RAISE(const Operand condition,
                            RequireBoolean(operand, NameOf(node.operation)));
      inputs.push_back(condition.expression);
    }
    return MakeNode(node.operation, arrow::boolean(), std::move(inputs), node.position);
  }

  static arrow::Result<Operand> Like(const SyntaxNode& node, const Operand& text,
                                     const Operand& pattern) {
    for (const Operand& operand : {text, pattern}) {
      if (IsText(*operand.type()) || operand.is_null()) continue;
      return InvalidAt(operand.position(), "expected text for LIKE, found a value of type ",
                       operand.type()->ToString());
    }
    if (!pattern.is_literal())
      return InvalidAt(pattern.position(), "the pattern of LIKE must be a literal");
    if (text.is_null() || pattern.is_null()) return MakeNull(arrow::boolean(), node.position);
    std::optional<std::string_view> escape;
    if (!node.names.empty()) {
      escape = node.names.front().text;
      const auto characters = std::count_if(escape->begin(), escape->end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
      });
      if (characters != 1)
        return InvalidAt(node.position, "ESCAPE takes one character, found '", *escape, "'");
    }
    const auto canonical = CanonicalLikePattern(pattern.expression->literal->ToString(), escape);
    if (!canonical.has_value())
      return InvalidAt(pattern.position(), "the pattern ends in its escape character");
    const Operand literal =
        MakeLiteral(std::make_shared<arrow::StringScalar>(*canonical), pattern.position());
    // Arrow reads a pattern with the first row; a wrong one is to be found without any.
    Expression like;
    like.kind = node.operation;
    like.position = pattern.position();
    ARROW_RETURN_NOT_OK(
        ApplyNode(like, {arrow::Datum(""), arrow::Datum(literal.expression->literal)}));
    return MakeNode(node.operation, arrow::boolean(), {text.expression, literal.expression},
                    node.position);
  }

  arrow::Result<Operand> Call(const SyntaxNode& node) {
    std::vector<Argument> arguments;
    for (const SyntaxTree& child : node.children) {
      Argument argument;
      argument.is_list = child->kind == SyntaxKind::kList;
      if (argument.is_list) {
        for (const SyntaxTree& item : child->children) {
          ARROW_ASSIGN_OR_RAISE(Operand operand, Visit(*item));
          argument.items.push_back(std::move(operand));
        }
      } else {
        ARROW_ASSIGN_OR_RAISE(argument.value, Visit(*child));
      }
      arguments.push_back(std::move(argument));
    }
    return BindCall(node.text, arguments, node.position);
  }

  /// a['b']['c'] is a.b.c; only columns have fields.
  arrow::Result<Operand> Field(const SyntaxNode& node) {
    std::vector<SyntaxName> names;
    const SyntaxNode* base = &node;
    while (base->kind == SyntaxKind::kField) {
      names.insert(names.begin(), base->names.front());
      base = base->children.front().get();
    }
    if (base->kind != SyntaxKind::kName)
      return InvalidAt(base->position, "expected a column before the name of a field");
    names.insert(names.begin(), base->names.begin(), base->names.end());
    return BindColumn(names, schema_, base->position);
  }

  const arrow::Schema& schema_;
};

}  // namespace

arrow::Result<ExpressionPtr> Bind(const SyntaxNode& tree, const arrow::Schema& schema) {
  ARROW_ASSIGN_OR_RAISE(const Operand root, Binder(schema).Visit(tree));
  ARROW_ASSIGN_OR_RAISE(const Operand condition, RequireBoolean(root, "the filter"));
  return condition.expression;
}

}  // namespace kinjo::predicate
