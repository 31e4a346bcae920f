#include "exec/plan_node.h"

namespace kinjo::exec {

namespace {

void AppendEntries(const PlanNode::Entries& entries, std::string* out) {
  bool first = true;
  for (const auto& [key, value] : entries) {
    if (!first) *out += ", ";
    first = false;
    out->append(key).append("=").append(value);
  }
}

void AppendNode(const PlanNode& node, PlanText text, int depth, std::string* out) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  *out += indent + node.name;
  if (!node.fields.empty()) {
    *out += ": ";
    AppendEntries(node.fields, out);
  }
  if (text.metrics && !node.metrics.empty()) {
    *out += node.fields.empty() ? ": metrics=[" : ", metrics=[";
    AppendEntries(node.metrics, out);
    *out += "]";
  }
  *out += "\n";
  if (text.details) {
    for (const auto& [key, value] : node.details)
      out->append(indent).append("  · ").append(key).append(": ").append(value).append("\n");
  }
  for (const PlanNode& input : node.inputs) AppendNode(input, text, depth + 1, out);
}

}  // namespace

std::string RenderPlan(const PlanNode& root, PlanText text) {
  std::string out;
  AppendNode(root, text, 0, &out);
  return out;
}

}  // namespace kinjo::exec
