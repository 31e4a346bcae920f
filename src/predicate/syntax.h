// A predicate as written: the parser's tree, before names and types are known.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/type.h"
#include "predicate/expression.h"

namespace kinjo::predicate {

enum class SyntaxKind : uint8_t {
  kName,    ///< `names`: a column and fields below it
  kNumber,  ///< `text`, perhaps with a sign
  kString,  ///< `text`
  kBytes,   ///< `text`
  kTrue,
  kFalse,
  kNull,
  kTyped,     ///< DATE '..' and its like: `text` of `type`
  kOperator,  ///< `operation` on the children: logic, comparison, arithmetic, IS
  kDistinct,  ///< IS DISTINCT FROM
  kIn,        ///< the first child in the others
  kBetween,   ///< three children
  kLike,      ///< `operation` kLike or kIlike on text and pattern; `names` holds an escape if any
  kConcat,
  kCast,   ///< one child to `type`
  kCall,   ///< the function `text`
  kList,   ///< [a, b]
  kField,  ///< the field `text` of the child
};

struct SyntaxName {
  std::string text;
  bool quoted = false;
};

struct SyntaxNode {
  SyntaxKind kind = SyntaxKind::kNull;
  int64_t position = 0;  ///< 1-based character: of an operator the operator's own
  ExpressionKind operation = ExpressionKind::kLiteral;
  std::string text;
  std::vector<SyntaxName> names;
  std::shared_ptr<arrow::DataType> type;
  std::vector<std::unique_ptr<SyntaxNode>> children;
  int height = 1;  ///< nodes on the longest way down
};

using SyntaxTree = std::unique_ptr<SyntaxNode>;

}  // namespace kinjo::predicate
