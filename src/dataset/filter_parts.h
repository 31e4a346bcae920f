// A predicate cut into what a filter evaluates apart: conjuncts, and those over one column
// together.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "predicate/expression.h"

namespace kinjo::dataset {

using ExpressionPtr = std::shared_ptr<const predicate::Expression>;

/// An AND, OR or comparison of `inputs`; the input itself when there is one.
ExpressionPtr MakeNode(predicate::ExpressionKind kind, std::vector<ExpressionPtr> inputs);

/// The conjuncts of `root`, in order. They refer to `root`, which must outlive them.
std::vector<ExpressionPtr> ConjunctsOf(const predicate::Expression& root);

/// The path of the only column below; null when there are several, or none.
const std::vector<std::string>* OnlyColumn(const predicate::Expression& expression);

/// Joins inputs over the same only column into one node of `kind`; the others stay as they are.
std::vector<ExpressionPtr> GroupByColumn(predicate::ExpressionKind kind,
                                         const std::vector<ExpressionPtr>& inputs);

}  // namespace kinjo::dataset
