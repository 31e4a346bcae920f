// A typed SQL expression as a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/array/array_base.h"
#include "arrow/scalar.h"
#include "arrow/type.h"

namespace arrow::compute {
class Expression;
}

namespace kinjo::predicate {

enum class ExpressionKind : uint8_t {
  kLiteral,  ///< `literal`
  kColumn,   ///< `path`: a top-level column and the struct fields below it
  kAnd,      ///< two or more inputs, evaluated from the first on
  kOr,       ///< two or more inputs, evaluated from the first on
  kNot,
  kEqual,  ///< comparisons: two inputs of one type; of a column and a literal the column is first
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,      ///< the input is one of `values`
  kIsNull,  ///< IS NOT NULL is kNot of it
  kIsTrue,
  kIsFalse,
  kIsNan,
  kLike,   ///< text, pattern (literal): % and _ are wild, a backslash takes the next as it is
  kIlike,  ///< kLike without regard to case
  kAdd,    ///< arithmetic: two inputs of one type
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kCast,      ///< to `type`
  kFunction,  ///< `function` names it, lower case
};

/// Immutable. Floats are ordered as Lance orders them: NaN equals itself and is above all others,
/// and -0 equals 0. A float16 column has the type float32. BETWEEN becomes kAnd of two comparisons.
/// A literal that is compared with a column has been cast to the column's type, so that an index
/// can look it up; where it lies between two values of that type (an int column < 1.5) the
/// comparison was changed to one that means the same
/// (<= 1). What can't be true of any value, or must be of all, became kAnd(IS NULL, null) or
/// kOr(IS NOT NULL, null), which stay null for a null.
struct Expression {
  ExpressionKind kind = ExpressionKind::kLiteral;
  /// Of the value. A dictionary has the type of its values, an extension type that of its storage.
  std::shared_ptr<arrow::DataType> type;
  /// Subtrees may be shared; `node_count` bounds what a walk meets.
  std::vector<std::shared_ptr<const Expression>> inputs;
  std::shared_ptr<arrow::Scalar> literal;  ///< of `type`; may be null
  std::vector<std::string> path;           ///< as the schema spells it
  /// kIn: of the input's type, without nulls, each once, ascending; of floats a zero has both
  /// signs.
  std::shared_ptr<arrow::Array> values;
  bool values_have_null = false;  ///< kIn: what isn't one of `values` is null, not false
  /// kFunction. Those that look for values in lists (array_has, array_has_any, array_has_all) have
  /// the list as their input and what to look for in `values`.
  std::string function;
  int64_t position = 0;  ///< 1-based character in the text, for messages
  /// Nodes below and with this one, shared ones counted each time.
  int64_t node_count = 1;
  /// Some value may make it fail. AND and OR evaluate such an input only on the rows that the
  /// inputs before it leave undecided.
  bool can_fail = false;
  /// kIn: the search of `values`, prepared.
  std::shared_ptr<const arrow::compute::Expression> membership;
};

}  // namespace kinjo::predicate
