#include "predicate/functions.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "arrow/array/util.h"
#include "arrow/compute/api_scalar.h"
#include "arrow/util/checked_cast.h"
#include "predicate/comparison.h"
#include "predicate/evaluate.h"
#include "predicate/list_search.h"
#include "predicate/literal_fit.h"
#include "predicate/position_error.h"

namespace kinjo::predicate {

namespace {

using arrow::Datum;
using arrow::internal::checked_cast;

/// What the arguments of a function are.
enum class Shape : uint8_t {
  kText,         ///< a text
  kTextPattern,  ///< a text and a text literal, perhaps flags
  kNumber,       ///< a number, integers going to int64 and floats to float64
  kRounded,      ///< a number and perhaps a literal number of digits
  kFloat,        ///< a number, going to float64
  kNan,          ///< a number: IS NAN of SQL's isnan
  kAlternatives,
  kList,
  kListValue,   ///< a list and a literal
  kListValues,  ///< a list and a list of literals
};

struct Function {
  std::string_view name;
  std::string_view canonical;  ///< Expression::function
  const char* kernel;
  Shape shape;
};

constexpr std::array kFunctions = {
    Function{"lower", "lower", "utf8_lower", Shape::kText},
    Function{"upper", "upper", "utf8_upper", Shape::kText},
    Function{"length", "length", "utf8_length", Shape::kText},
    Function{"char_length", "length", "utf8_length", Shape::kText},
    Function{"character_length", "length", "utf8_length", Shape::kText},
    Function{"octet_length", "octet_length", "binary_length", Shape::kText},
    Function{"trim", "trim", "utf8_trim", Shape::kText},
    Function{"btrim", "trim", "utf8_trim", Shape::kText},
    Function{"ltrim", "ltrim", "utf8_ltrim", Shape::kText},
    Function{"rtrim", "rtrim", "utf8_rtrim", Shape::kText},
    Function{"starts_with", "starts_with", "starts_with", Shape::kTextPattern},
    Function{"ends_with", "ends_with", "ends_with", Shape::kTextPattern},
    Function{"contains", "contains", "match_substring", Shape::kTextPattern},
    Function{"regexp_like", "regexp_like", "match_substring_regex", Shape::kTextPattern},
    Function{"regexp_match", "regexp_like", "match_substring_regex", Shape::kTextPattern},
    Function{"abs", "abs", "abs_checked", Shape::kNumber},
    Function{"floor", "floor", "floor", Shape::kNumber},
    Function{"ceil", "ceil", "ceil", Shape::kNumber},
    Function{"ceiling", "ceil", "ceil", Shape::kNumber},
    Function{"round", "round", "round", Shape::kRounded},
    Function{"sqrt", "sqrt", "sqrt", Shape::kFloat},
    Function{"isnan", "isnan", "is_nan", Shape::kNan},
    Function{"coalesce", "coalesce", "coalesce", Shape::kAlternatives},
    Function{"array_length", "array_length", "list_value_length", Shape::kList},
    Function{"cardinality", "array_length", "list_value_length", Shape::kList},
    Function{"array_has", "array_has", nullptr, Shape::kListValue},
    Function{"array_contains", "array_has", nullptr, Shape::kListValue},
    Function{"list_has", "array_has", nullptr, Shape::kListValue},
    Function{"list_contains", "array_has", nullptr, Shape::kListValue},
    Function{"array_has_any", "array_has_any", nullptr, Shape::kListValues},
    Function{"array_has_all", "array_has_all", nullptr, Shape::kListValues},
};

constexpr std::string_view kConcat = "||";

const Function* Find(std::string_view name, std::string_view Function::* member) {
  const auto* const found =
      std::find_if(kFunctions.begin(), kFunctions.end(),
                   [&](const Function& function) { return function.*member == name; });
  return found == kFunctions.end() ? nullptr : found;
}

arrow::Status UnknownFunction(const std::string& name, int64_t position) {
  std::string known;
  for (const Function& function : kFunctions)
    known += base::Concat(known.empty() ? "" : ", ", function.name);
  return InvalidAt(position, "no function ", name, "; there are ", known);
}

arrow::Status RequireCount(const std::string& name, size_t count, size_t least, size_t most,
                           int64_t position) {
  if (count >= least && count <= most) return arrow::Status::OK();
  const std::string expected =
      least == most ? std::to_string(least) : base::Concat(least, " or ", most);
  return InvalidAt(position, name, " takes ", expected, " argument", most == 1 ? "" : "s",
                   ", found ", count);
}

arrow::Status WrongArgument(const std::string& name, const char* expected,
                            const Operand& argument) {
  return InvalidAt(argument.position(), "expected ", expected, " as an argument of ", name,
                   ", found a value of type ", argument.type()->ToString());
}

/// A call whose type is what its kernel makes of the inputs' types.
arrow::Result<Operand> MakeCall(std::string_view canonical, std::vector<ExpressionPtr> inputs,
                                int64_t position) {
  Expression node;
  node.kind = ExpressionKind::kFunction;
  node.function = canonical;
  node.position = position;
  std::vector<Datum> none;
  for (const ExpressionPtr& input : inputs) {
    if (input->kind == ExpressionKind::kLiteral && !none.empty()) {
      none.emplace_back(input->literal);
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(auto empty, arrow::MakeEmptyArray(input->type));
    none.emplace_back(std::move(empty));
  }
  ARROW_ASSIGN_OR_RAISE(const Datum result, ApplyNode(node, none));
  node.type = result.type();
  node.inputs = std::move(inputs);
  return MakeNode(std::move(node));
}

arrow::Result<Operand> AsText(const std::string& name, const Operand& argument) {
  if (IsText(*argument.type())) return argument;
  if (argument.type()->id() == arrow::Type::NA) return MakeNull(arrow::utf8(), argument.position());
  return WrongArgument(name, "text", argument);
}

arrow::Result<Operand> AsNumber(const std::string& name, const Operand& argument) {
  const arrow::DataType& type = *argument.type();
  if (type.id() == arrow::Type::NA) return MakeNull(arrow::float64(), argument.position());
  if (IsDecimal(type)) return argument;
  if (IsInteger(type)) return CastTo(arrow::int64(), argument, argument.position());
  if (IsFloat(type)) return CastTo(arrow::float64(), argument, argument.position());
  return WrongArgument(name, "a number", argument);
}

arrow::Result<Operand> BindTextPattern(const Function& function, const std::string& name,
                                       const std::vector<Operand>& values, int64_t position) {
  const bool is_regex = function.canonical == "regexp_like";
  ARROW_RETURN_NOT_OK(RequireCount(name, values.size(), 2, is_regex ? 3 : 2, position));
  ARROW_ASSIGN_OR_RAISE(const Operand text, AsText(name, values[0]));
  std::vector<std::string> literals;
  for (size_t i = 1; i < values.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const Operand literal, AsText(name, values[i]));
    if (!literal.is_literal())
      return InvalidAt(values[i].position(), "the pattern of ", name, " must be a literal");
    if (literal.is_null()) return MakeNull(arrow::boolean(), position);
    literals.push_back(literal.expression->literal->ToString());
  }
  if (literals.size() == 2) {
    if (literals[1] != "i")
      return InvalidAt(values[2].position(), "expected the flag 'i' or none, found '", literals[1],
                       "'");
    literals[0].insert(0, "(?i)");
  }
  const Operand pattern =
      MakeLiteral(std::make_shared<arrow::StringScalar>(literals[0]), values[1].position());
  // Arrow reads a pattern with the first row; a wrong one is to be found without any.
  Expression call;
  call.kind = ExpressionKind::kFunction;
  call.function = function.canonical;
  call.position = values[1].position();
  ARROW_RETURN_NOT_OK(ApplyNode(call, {Datum(""), Datum(pattern.expression->literal)}));
  return MakeCall(function.canonical, {text.expression, pattern.expression}, position);
}

arrow::Result<Operand> BindRounded(const Function& function, const std::string& name,
                                   const std::vector<Operand>& values, int64_t position) {
  ARROW_RETURN_NOT_OK(RequireCount(name, values.size(), 1, 2, position));
  ARROW_ASSIGN_OR_RAISE(const Operand number, AsNumber(name, values[0]));
  std::vector<ExpressionPtr> inputs = {number.expression};
  if (values.size() == 2) {
    const Operand& digits = values[1];
    if (!digits.is_literal() || digits.is_null() || !IsInteger(*digits.type()))
      return InvalidAt(digits.position(), "the digits of ", name, " must be a whole number");
    ARROW_ASSIGN_OR_RAISE(const Operand wide, CastTo(arrow::int64(), digits, digits.position()));
    inputs.push_back(wide.expression);
  }
  return MakeCall(function.canonical, std::move(inputs), position);
}

arrow::Result<Operand> BindNan(const std::string& name, const Operand& argument, int64_t position) {
  ARROW_ASSIGN_OR_RAISE(const Operand number, AsNumber(name, argument));
  ARROW_ASSIGN_OR_RAISE(const Operand value, IsDecimal(*number.type())
                                                 ? CastTo(arrow::float64(), number, position)
                                                 : arrow::Result<Operand>(number));
  return MakeNode(ExpressionKind::kIsNan, arrow::boolean(), {value.expression}, position);
}

arrow::Result<Operand> BindAlternatives(const Function& function, const std::string& name,
                                        const std::vector<Operand>& values, int64_t position) {
  if (values.empty()) return InvalidAt(position, name, " takes an argument or more, found 0");
  TypePtr type = arrow::null();
  for (const Operand& value : values) {
    const TypePtr common = value.is_null() ? type : CommonType(type, value.type());
    if (common == nullptr) {
      return InvalidAt(value.position(), name, " takes values of one type, found ",
                       type->ToString(), " and ", value.type()->ToString());
    }
    type = common;
  }
  std::vector<ExpressionPtr> inputs;
  for (const Operand& value : values) {
    ARROW_ASSIGN_OR_RAISE(const Operand cast, CastTo(type, value, position));
    inputs.push_back(cast.expression);
  }
  return MakeCall(function.canonical, std::move(inputs), position);
}

arrow::Status RequireList(const std::string& name, const Operand& argument) {
  if (IsList(*argument.type())) return arrow::Status::OK();
  return WrongArgument(name, "a list", argument);
}

/// An operand of the type of a list's elements, to fit literals to.
Operand ElementOf(const arrow::DataType& list) {
  const TypePtr stored = checked_cast<const arrow::BaseListType&>(list).value_type();
  Expression element;
  element.kind = ExpressionKind::kColumn;
  element.type = ValueType(stored);
  return {std::make_shared<const Expression>(std::move(element)), std::nullopt,
          stored->id() == arrow::Type::HALF_FLOAT};
}

/// array_has, array_has_any, array_has_all: what the elements' type can't hold is in no list.
arrow::Result<Operand> BindListSearch(const Function& function, const std::string& name,
                                      const Operand& list, const std::vector<Operand>& items,
                                      int64_t position) {
  ARROW_RETURN_NOT_OK(RequireList(name, list));
  const Operand element = ElementOf(*list.type());
  if (!IsComparable(*element.type())) return WrongArgument(name, "a list of plain values", list);
  arrow::ScalarVector scalars;
  bool is_complete = true;
  for (const Operand& item : items) {
    if (!item.is_literal())
      return InvalidAt(item.position(), "what ", name, " looks for must be a literal");
    if (item.is_null()) return MakeNull(arrow::boolean(), position);
    ARROW_ASSIGN_OR_RAISE(const auto fit, FitLiteral(item, element));
    if (!fit.has_value()) {
      ARROW_RETURN_NOT_OK(BindComparison(ExpressionKind::kEqual, element, item, position));
    }
    if (fit.has_value() && fit->place == LiteralPlace::kExact) {
      scalars.push_back(fit->value);
    } else {
      is_complete = false;
    }
  }
  Expression node;
  node.kind = ExpressionKind::kFunction;
  node.type = arrow::boolean();
  node.function = function.canonical;
  if (node.function == "array_has_all" && !is_complete) {
    node.function = "array_has_any";
    scalars.clear();
  }
  node.inputs = {list.expression};
  node.position = position;
  ARROW_ASSIGN_OR_RAISE(node.values, MakeValues(scalars, element.type()));
  return MakeNode(std::move(node));
}

arrow::Result<std::vector<Operand>> ValuesOf(const std::string& name,
                                             const std::vector<Argument>& arguments,
                                             int64_t position) {
  std::vector<Operand> values;
  for (const Argument& argument : arguments) {
    if (argument.is_list) return InvalidAt(position, name, " takes no list in brackets");
    values.push_back(argument.value);
  }
  return values;
}

arrow::Result<Datum> ApplyRound(const std::vector<Datum>& inputs) {
  int64_t digits = 0;
  if (inputs.size() == 2)
    digits = checked_cast<const arrow::Int64Scalar&>(*inputs[1].scalar()).value;
  const arrow::compute::RoundOptions options(digits,
                                             arrow::compute::RoundMode::HALF_TOWARDS_INFINITY);
  return CallArrow("round", {inputs[0]}, &options);
}

}  // namespace

arrow::Result<Operand> BindCall(const std::string& name, const std::vector<Argument>& arguments,
                                int64_t position) {
  const Function* function = Find(name, &Function::name);
  if (function == nullptr) return UnknownFunction(name, position);
  if (function->shape == Shape::kListValues) {
    ARROW_RETURN_NOT_OK(RequireCount(name, arguments.size(), 2, 2, position));
    if (arguments[0].is_list || !arguments[1].is_list)
      return InvalidAt(position, name, " takes a list column and a list in brackets: [a, b]");
    return BindListSearch(*function, name, arguments[0].value, arguments[1].items, position);
  }
  ARROW_ASSIGN_OR_RAISE(const std::vector<Operand> values, ValuesOf(name, arguments, position));
  if (function->shape == Shape::kTextPattern)
    return BindTextPattern(*function, name, values, position);
  if (function->shape == Shape::kRounded) return BindRounded(*function, name, values, position);
  if (function->shape == Shape::kAlternatives)
    return BindAlternatives(*function, name, values, position);
  if (function->shape == Shape::kListValue) {
    ARROW_RETURN_NOT_OK(RequireCount(name, values.size(), 2, 2, position));
    return BindListSearch(*function, name, values[0], {values[1]}, position);
  }
  ARROW_RETURN_NOT_OK(RequireCount(name, values.size(), 1, 1, position));
  if (function->shape == Shape::kNan) return BindNan(name, values[0], position);
  if (function->shape == Shape::kList) {
    ARROW_RETURN_NOT_OK(RequireList(name, values[0]));
    return MakeCall(function->canonical, {values[0].expression}, position);
  }
  Operand argument;
  if (function->shape == Shape::kText) {
    ARROW_ASSIGN_OR_RAISE(argument, AsText(name, values[0]));
  } else {
    ARROW_ASSIGN_OR_RAISE(argument, AsNumber(name, values[0]));
  }
  if (function->shape == Shape::kFloat) {
    ARROW_ASSIGN_OR_RAISE(argument, CastTo(arrow::float64(), argument, position));
  }
  return MakeCall(function->canonical, {argument.expression}, position);
}

arrow::Result<Operand> BindConcat(const Operand& left, const Operand& right, int64_t position) {
  if (left.is_null() || right.is_null()) return MakeNull(arrow::utf8(), position);
  std::vector<ExpressionPtr> inputs;
  for (const Operand& side : {left, right}) {
    const TypePtr type = IsText(*side.type()) ? side.type() : arrow::utf8();
    ARROW_ASSIGN_OR_RAISE(const Operand text, CastTo(type, side, position));
    inputs.push_back(text.expression);
  }
  if (!inputs[0]->type->Equals(*inputs[1]->type)) {
    for (ExpressionPtr& input : inputs) {
      ARROW_ASSIGN_OR_RAISE(const Operand wide,
                            CastTo(arrow::large_utf8(), Operand{input}, position));
      input = wide.expression;
    }
  }
  return MakeCall(kConcat, std::move(inputs), position);
}

arrow::Result<Datum> ApplyFunction(const Expression& node, const std::vector<Datum>& inputs) {
  namespace compute = arrow::compute;
  if (node.function == kConcat) {
    const Datum nothing(arrow::MakeScalar(inputs[0].type(), std::string()).ValueOrDie());
    const compute::JoinOptions options(compute::JoinOptions::EMIT_NULL);
    return CallArrow("binary_join_element_wise", {inputs[0], inputs[1], nothing}, &options);
  }
  const Function* function = Find(node.function, &Function::canonical);
  switch (function->shape) {
    case Shape::kTextPattern: {
      const compute::MatchSubstringOptions options(inputs[1].scalar()->ToString());
      return CallArrow(function->kernel, {inputs[0]}, &options);
    }
    case Shape::kRounded:
      return ApplyRound(inputs);
    case Shape::kListValue:
    case Shape::kListValues: {
      const auto search = node.function == "array_has_all" ? ListSearch::kAll : ListSearch::kAny;
      if (inputs[0].is_scalar()) return Datum(arrow::MakeNullScalar(arrow::boolean()));
      ARROW_ASSIGN_OR_RAISE(const auto found,
                            SearchLists(*inputs[0].make_array(), node.values, search));
      return Datum(found);
    }
    default:
      break;
  }
  if (std::string_view(function->kernel).ends_with("trim")) {
    const compute::TrimOptions options(" ");
    return CallArrow(function->kernel, inputs, &options);
  }
  return CallArrow(function->kernel, inputs);
}

}  // namespace kinjo::predicate
