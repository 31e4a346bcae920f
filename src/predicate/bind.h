// Names and types given to a syntax tree: columns found in a schema, values cast to where they
// meet, constants computed.
#pragma once

#include <memory>

#include "arrow/type.h"
#include "base/error.h"
#include "predicate/expression.h"
#include "predicate/syntax.h"

namespace kinjo::predicate {

/// The boolean expression that the tree is over the schema. Errors are those of Predicate::Parse.
arrow::Result<std::shared_ptr<const Expression>> Bind(const SyntaxNode& tree,
                                                      const arrow::Schema& schema);

}  // namespace kinjo::predicate
