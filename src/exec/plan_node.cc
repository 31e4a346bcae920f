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

/// "Name: a=1, b=2, metrics=[...]".
std::string OneLine(const PlanNode& node, PlanText text) {
  std::string line = node.name;
  if (!node.fields.empty()) {
    line += ": ";
    AppendEntries(node.fields, &line);
  }
  if (text.metrics && !node.metrics.empty()) {
    line += node.fields.empty() ? ": metrics=[" : ", metrics=[";
    AppendEntries(node.metrics, &line);
    line += ']';
  }
  return line + "\n";
}

/// The name, then each field, then the metrics.
std::string FieldLines(const PlanNode& node, PlanText text, const std::string& indent) {
  std::string lines = node.name + "\n";
  for (const auto& [key, value] : node.fields) {
    lines.append(indent).append(key).append("=").append(value).append("\n");
  }
  if (text.metrics && !node.metrics.empty()) {
    lines += indent + "metrics=[";
    AppendEntries(node.metrics, &lines);
    lines += "]\n";
  }
  return lines;
}

void AppendNode(const PlanNode& node, PlanText text, int depth, std::string* out) {
  const std::string indent(static_cast<size_t>(depth) * 2, ' ');
  *out += indent + (text.field_lines ? FieldLines(node, text, indent) : OneLine(node, text));
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
