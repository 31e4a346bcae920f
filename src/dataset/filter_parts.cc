#include "dataset/filter_parts.h"

#include <algorithm>
#include <utility>

#include "arrow/type.h"

namespace kinjo::dataset {
namespace {

using predicate::Expression;
using predicate::ExpressionKind;

/// False when two columns were met.
bool MeetsOneColumn(const Expression& expression, const std::vector<std::string>** path) {
  if (expression.kind == ExpressionKind::kColumn) {
    if (*path != nullptr && **path != expression.path) return false;
    *path = &expression.path;
    return true;
  }
  return std::all_of(expression.inputs.begin(), expression.inputs.end(),
                     [&](const ExpressionPtr& input) { return MeetsOneColumn(*input, path); });
}

}  // namespace

ExpressionPtr MakeNode(ExpressionKind kind, std::vector<ExpressionPtr> inputs) {
  if (inputs.size() == 1) return inputs.front();
  auto node = std::make_shared<Expression>();
  node->kind = kind;
  node->type = arrow::boolean();
  for (const ExpressionPtr& input : inputs) {
    node->node_count += input->node_count;
    node->can_fail = node->can_fail || input->can_fail;
  }
  node->position = inputs.empty() ? 0 : inputs.front()->position;
  node->inputs = std::move(inputs);
  return node;
}

std::vector<ExpressionPtr> ConjunctsOf(const Expression& root) {
  if (root.kind == ExpressionKind::kAnd) return root.inputs;
  return {ExpressionPtr(std::shared_ptr<void>(), &root)};
}

const std::vector<std::string>* OnlyColumn(const Expression& expression) {
  const std::vector<std::string>* path = nullptr;
  return MeetsOneColumn(expression, &path) ? path : nullptr;
}

std::vector<ExpressionPtr> GroupByColumn(ExpressionKind kind,
                                         const std::vector<ExpressionPtr>& inputs) {
  std::vector<std::pair<const std::vector<std::string>*, std::vector<ExpressionPtr>>> groups;
  for (const ExpressionPtr& input : inputs) {
    const std::vector<std::string>* path = OnlyColumn(*input);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return path != nullptr && group.first != nullptr && *group.first == *path;
    });
    if (same == groups.end()) {
      groups.push_back({path, {input}});
    } else {
      same->second.push_back(input);
    }
  }
  std::vector<ExpressionPtr> grouped;
  grouped.reserve(groups.size());
  for (auto& [path, members] : groups) grouped.push_back(MakeNode(kind, std::move(members)));
  return grouped;
}

}  // namespace kinjo::dataset
