#include "join/run_identity.h"

#include <algorithm>
#include <utility>

#include "join/temporary_index.h"

namespace kinjo::join {

namespace {

using tabular::Trait;

std::string ValueText(const std::string& value) { return value; }
std::string ValueText(bool value) { return value ? "true" : "false"; }
std::string ValueText(int64_t value) { return std::to_string(value); }
std::string ValueText(double value) { return base::Concat(value); }
std::string ValueText(How value) { return value == How::kLeft ? "left" : "inner"; }
std::string ValueText(kernels::Metric value) { return std::string(kernels::MetricName(value)); }
std::string ValueText(const std::pair<float, float>& range) {
  return base::Concat("[", range.first, ", ", range.second, ")");
}
std::string ValueText(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return base::Concat("[", text, "]");
}
std::string ValueText(ApproxMode mode) {
  if (mode == ApproxMode::kFast) return "fast";
  return mode == ApproxMode::kAccurate ? "accurate" : "normal";
}
std::string ValueText(IndexUse use) {
  switch (use) {
    case IndexUse::kAuto:
      return "auto";
    case IndexUse::kRequire:
      return "require";
    case IndexUse::kNever:
      return "never";
    case IndexUse::kNamed:
      break;
  }
  return "by name";
}
template <typename T>
std::string ValueText(const std::optional<T>& value) {
  return value.has_value() ? ValueText(*value) : "not given";
}

// Every option is named here, or the binding doesn't compile: a new one is either added to what is
// compared or, when it can't change the answer, to the last list.
std::vector<Trait> IdentifyOptions(const JoinOptions& options) {
  const auto& [k, on, left_on, right_on, how, metric, nprobes, minimum_nprobes, maximum_nprobes,
               refine_factor, search_effort, recall, ef, approx_mode, where, by, exclude_self,
               index, index_name, fast_search, distance_range, left_select, right_select, suffix,
               with_row_id, with_query_index, unordered_pairs, mutual, clusters, right_version,
               right_tag, memory_limit_bytes, threads, block_rows, forced_ways] = options;
  // The version that these name is the right side's own trait; the others only cost time.
  (void)unordered_pairs, (void)mutual, (void)clusters;  // refused
  (void)on, (void)left_on, (void)right_on;              // told as the columns that they name
  (void)right_version, (void)right_tag, (void)memory_limit_bytes, (void)threads, (void)block_rows;
  (void)forced_ways;
  return {{"k", ValueText(k)},
          {"how", ValueText(how)},
          {"metric", ValueText(metric)},
          {"nprobes", ValueText(nprobes)},
          {"minimum_nprobes", ValueText(minimum_nprobes)},
          {"maximum_nprobes", ValueText(maximum_nprobes)},
          {"refine_factor", ValueText(refine_factor)},
          {"recall", ValueText(recall)},
          {"search_effort", ValueText(search_effort)},
          {"ef", ValueText(ef)},
          {"approx_mode", ValueText(approx_mode)},
          {"where", ValueText(where)},
          {"by", ValueText(by)},
          {"exclude_self", ValueText(exclude_self)},
          {"index", ValueText(index)},
          {"index name", ValueText(index_name)},
          {"fast_search", ValueText(fast_search)},
          {"distance_range", ValueText(distance_range)},
          {"left_select", ValueText(left_select)},
          {"right_select", ValueText(right_select)},
          {"suffix", ValueText(suffix)},
          {"with_row_id", ValueText(with_row_id)},
          {"with_query_index", ValueText(with_query_index)}};
}

void AddSide(const std::string& side, std::vector<Trait> traits, std::optional<int64_t> rows,
             const arrow::Schema& schema, std::vector<Trait>* all) {
  if (rows.has_value()) traits.push_back({"rows", std::to_string(*rows)});
  std::string columns;
  for (const auto& field : schema.fields()) {
    columns += (columns.empty() ? "" : ", ") + field->ToString();
  }
  traits.push_back({"columns", columns});
  for (Trait& trait : traits) all->push_back({base::Concat(side, " ", trait.name), trait.value});
}

std::string ValueOf(const std::vector<Trait>& traits, const std::string& name) {
  const auto found = std::find_if(traits.begin(), traits.end(),
                                  [&](const Trait& trait) { return trait.name == name; });
  if (found == traits.end()) return "not there";
  return found->value.empty() ? "\"\"" : found->value;
}

}  // namespace

arrow::Result<std::vector<Trait>> IdentifyRun(const JoinPlan& plan) {
  if (plan.gives_pairs()) {
    return base::MakeError(
        base::ErrorCode::kNotSupported,
        "a join with unordered_pairs, mutual or clusters looks at all left rows before it is done, "
        "so it can't be continued part by part; run it whole");
  }
  std::vector<Trait> all;
  ARROW_ASSIGN_OR_RAISE(auto left, plan.left->Identity());
  AddSide("left", std::move(left), plan.left->num_rows(), *plan.left->schema(), &all);
  ARROW_ASSIGN_OR_RAISE(auto right, plan.right->Identity());
  AddSide("right", std::move(right), plan.right->num_rows(), *plan.right->schema(), &all);
  all.push_back({"left vector column", plan.left_vector.name});
  all.push_back({"right vector column", plan.right_vector.name});
  if (IsTemporary(plan)) {
    all.push_back({"temporary index",
                   base::Concat(PlannedIndexOf(plan).training.num_partitions, " partitions")});
  }
  for (Trait& trait : IdentifyOptions(plan.options)) all.push_back(std::move(trait));
  return all;
}

std::string Differences(const std::vector<Trait>& was, const std::vector<Trait>& is) {
  std::string text;
  const auto compare = [&](const std::string& name) {
    const std::string before = ValueOf(was, name);
    const std::string now = ValueOf(is, name);
    if (before == now) return;
    text += base::Concat(text.empty() ? "" : ", ", name, " was ", before, " and is ", now);
  };
  for (const Trait& trait : is) compare(trait.name);
  for (const Trait& trait : was) {
    const bool compared = std::any_of(is.begin(), is.end(),
                                      [&](const Trait& other) { return other.name == trait.name; });
    if (!compared) compare(trait.name);
  }
  return text;
}

}  // namespace kinjo::join
