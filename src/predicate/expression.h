// A typed SQL expression as a tree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/scalar.h"
#include "arrow/type.h"

namespace kinjo::predicate {

enum class ExpressionKind : uint8_t {
  kLiteral,  ///< `literal`
  kColumn,   ///< `path`: a top-level column and the struct fields below it
  kAnd,      ///< two or more inputs
  kOr,       ///< two or more inputs
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,      ///< the first input in the literals of the others
  kIsNull,  ///< IS NOT NULL is kNot of it
  kIsTrue,
  kIsFalse,
  kIsNan,
  kLike,  ///< input, pattern (literal); `function` holds the escape character, if any
  kIlike,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kNegate,
  kCast,      ///< to `type`
  kFunction,  ///< `function` names it, lower case
};

/// Immutable. BETWEEN becomes kAnd of two comparisons. Comparisons have both sides in one type: the
/// literal was cast to the column's type where that is exact, so that an index can look it up.
struct Expression {
  ExpressionKind kind = ExpressionKind::kLiteral;
  std::shared_ptr<arrow::DataType> type;  ///< of the value
  std::vector<std::shared_ptr<const Expression>> inputs;
  std::shared_ptr<arrow::Scalar> literal;
  std::vector<std::string> path;
  std::string function;
  int64_t position = 0;  ///< 1-based character in the text, for messages
};

}  // namespace kinjo::predicate
