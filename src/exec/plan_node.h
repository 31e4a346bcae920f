// The plan as a tree of operators, and its two texts: explain (before a run) and analyze (after
// one). A plan node only describes; the operators that do the work stand in their own files.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kinjo::exec {

/// One operator of a plan. Inputs are its children, in order.
struct PlanNode {
  using Entries = std::vector<std::pair<std::string, std::string>>;

  std::string name;  ///< "KnnJoin", "ANNIvfPartition", ...
  Entries fields;    ///< shown always
  Entries details;   ///< of explain, one a line
  Entries metrics;   ///< what was measured; shown by analyze
  std::vector<PlanNode> inputs;
};

/// What a plan's text shows besides the operators and their fields.
struct PlanText {
  bool details = false;
  bool metrics = false;
  bool field_lines = false;  ///< the tree form: each field, and the metrics, on a line of its own
};

/// The tree as text: an operator a line (but for the tree form), inputs indented by two spaces, a
/// newline at the end.
std::string RenderPlan(const PlanNode& root, PlanText text);

}  // namespace kinjo::exec
