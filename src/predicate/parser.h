// SQL text to a syntax tree: operator precedence over the lexer's tokens. docs/semantics.md lists
// the language.
#pragma once

#include <string_view>

#include "base/error.h"
#include "predicate/syntax.h"

namespace kinjo::predicate {

/// Deeper trees are refused, so that those who walk them may recurse. AND and OR of any number of
/// operands are one node.
constexpr int kMaximumHeight = 200;

/// The whole text as one expression, or `invalid` with the position, what stands there and what was
/// expected.
arrow::Result<SyntaxTree> ParseSyntax(std::string_view text);

}  // namespace kinjo::predicate
