#include "join/explain.h"

#include <cstdio>
#include <string>

#include "join/recall_choice.h"
#include "join/temporary_index.h"

namespace kinjo::join {

namespace {

using exec::PlanNode;

std::string Quote(const std::string& text) { return "\"" + text + "\""; }

std::string Number(double value, const char* format) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

std::string Bytes(int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return Number(value, unit == 0 ? "%.0f " : "%.1f ") + units[unit];
}

std::string ListNames(const std::vector<std::string>& names) {
  std::string text = "[";
  for (size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
  return text + "]";
}

// A run with a recall target chooses; before it, nobody knows.
constexpr const char* kChosenAtRun = "chosen at run";

std::string ProbesText(const JoinPlan& plan, const JoinReport* report) {
  if (plan.options.recall.has_value()) {
    return report == nullptr || !report->recall.has_value()
               ? base::Concat(kChosenAtRun, ", recall=", *plan.options.recall)
               : base::Concat(report->recall->chosen.nprobes);
  }
  const exec::ProbeLimits& probes = plan.probes;
  if (probes.nprobes.has_value()) return base::Concat(*probes.nprobes);
  std::string text = "adaptive";
  if (probes.effort.has_value()) text += base::Concat(", search_effort=", *probes.effort);
  if (plan.options.minimum_nprobes.has_value()) {
    text += base::Concat(", minimum_nprobes=", probes.minimum);
  }
  if (probes.maximum.has_value()) text += base::Concat(", maximum_nprobes=", *probes.maximum);
  return text;
}

PlanNode LeftNode(const JoinPlan& plan) {
  PlanNode node{.name = "LeftScan"};
  node.fields = {{"uri", plan.left->uri()},
                 {"format", plan.left->format()},
                 {"vector", plan.left_vector.name}};
  const auto rows = plan.left->num_rows();
  if (rows.has_value()) node.fields.emplace_back("rows", base::Concat(*rows));
  return node;
}

PlanNode FilterNode(const JoinPlan& plan, const JoinReport* report) {
  PlanNode node{.name = "Prefilter"};
  node.fields = {{"where", Quote(plan.filter->predicate->text())},
                 {"columns", ListNames(plan.filter->predicate->columns())}};
  const auto& indexes = report == nullptr ? plan.filter->indexes : report->filter_indexes;
  node.fields.emplace_back("scalar_indexes", ListNames(indexes));
  if (report != nullptr) {
    node.metrics = {{"output_rows", base::Concat(report->filter_rows)},
                    {"rows_evaluated", base::Concat(report->filter_rows_evaluated)},
                    {"elapsed_compute", Number(report->filter_s, "%.3fs")}};
  }
  return node;
}

PlanNode IndexNode(const JoinPlan& plan, const JoinReport* report) {
  const ChosenIndex& chosen = *plan.choice.index;
  PlanNode partition{.name = "ANNIvfPartition"};
  int64_t partitions = 0;
  for (const auto& segment : chosen.segments) partitions += segment->num_partitions();
  partition.fields = {{"nprobes", ProbesText(plan, report)},
                      {"partitions", base::Concat(partitions)},
                      {"deltas", base::Concat(chosen.segments.size())}};
  PlanNode batch{.name = "ANNIvfBatch"};
  batch.fields = {{"name", chosen.info.name},
                  {"type", chosen.info.type},
                  {"metric", chosen.info.metric},
                  {"k", base::Concat(plan.multivector() ? plan.wanted : plan.candidates)},
                  {"deltas", base::Concat(chosen.segments.size())}};
  if (report != nullptr) {
    partition.metrics = {{"partitions_ranked", base::Concat(report->partitions_ranked)},
                         {"elapsed_compute", Number(report->rank_s, "%.3fs")}};
    batch.metrics = {{"partitions_searched", base::Concat(report->partitions_probed)},
                     {"parts_loaded", base::Concat(report->partitions_read)},
                     {"index_comparisons", base::Concat(report->index_comparisons)},
                     {"elapsed_compute", Number(report->probe_s, "%.3fs")}};
  }
  partition.inputs.push_back(LeftNode(plan));
  batch.inputs.push_back(std::move(partition));
  if (plan.filter != nullptr) batch.inputs.push_back(FilterNode(plan, report));
  return batch;
}

PlanNode ScanNode(const JoinPlan& plan, const JoinReport* report) {
  PlanNode node{.name = "KNNVectorDistance"};
  node.fields = {{"metric", std::string(kernels::MetricName(plan.metric()))},
                 {"k", base::Concat(plan.options.k)},
                 {"column", plan.right_vector.name}};
  if (plan.uses_index()) {
    node.fields.emplace_back("fragments",
                             base::Concat(plan.choice.index->unindexed_fragments.size()));
    node.fields.emplace_back("rows", base::Concat(plan.choice.index->unindexed_rows));
  } else if (plan.right->num_rows().has_value()) {
    node.fields.emplace_back("rows", base::Concat(*plan.right->num_rows()));
  }
  if (report != nullptr) {
    node.metrics = {{"rows_scanned", base::Concat(report->rows_scanned)},
                    {"elapsed_compute", Number(report->exact_s, "%.3fs")}};
  }
  return node;
}

// Whether the run will choose a refine factor too.
bool MayRefine(const JoinPlan& plan, const JoinReport* report) {
  return plan.options.recall.has_value() && report == nullptr && plan.uses_index() &&
         WidestSettings(plan).refine_factor > 0;
}

PlanNode SearchNode(const JoinPlan& plan, const JoinReport* report) {
  if (!plan.uses_index()) {
    PlanNode fallback{.name = "ExactFallback"};
    fallback.fields = {{"reason", Quote(plan.choice.reason)}};
    PlanNode scan = ScanNode(plan, report);
    scan.inputs.push_back(LeftNode(plan));
    if (plan.filter != nullptr) scan.inputs.push_back(FilterNode(plan, report));
    fallback.inputs.push_back(std::move(scan));
    return fallback;
  }
  PlanNode search = IndexNode(plan, report);
  if (plan.multivector()) {
    PlanNode scoring{.name = "MultivectorScoring"};
    scoring.fields = {{"k", base::Concat(plan.candidates)}};
    scoring.inputs.push_back(std::move(search));
    search = std::move(scoring);
  }
  const bool may_refine = MayRefine(plan, report) && !plan.options.refine_factor.has_value();
  if (!plan.refines && !may_refine) return search;
  PlanNode refine{.name = "Refine"};
  refine.fields = {{"refine_factor", base::Concat(plan.options.refine_factor.value_or(1))},
                   {"candidates", base::Concat(plan.candidates)},
                   {"k", base::Concat(plan.options.k)}};
  if (may_refine) refine.fields[0].second = refine.fields[1].second = kChosenAtRun;
  if (!plan.options.refine_factor.has_value() && plan.refines) {
    refine.fields.emplace_back("reason", "\"un-indexed rows are merged on exact distances\"");
  }
  if (report != nullptr) {
    refine.metrics = {{"rows_refined", base::Concat(report->rows_refined)},
                      {"elapsed_compute", Number(report->refine_s, "%.3fs")}};
  }
  refine.inputs.push_back(std::move(search));
  if (plan.scans_unindexed()) refine.inputs.push_back(ScanNode(plan, report));
  return refine;
}

// What keeping the index would take as a + b |R|, and what the gate makes of it.
std::string GateText(const MemoryPlan& memory) {
  const int64_t rows = memory.index_rows;
  const auto megabytes = [](double bytes) { return Number(bytes / (1 << 20), "%.1f MiB"); };
  return base::Concat(
      memory.keeps_index ? "resident" : "streamed", ": ", megabytes(memory.resident.base_bytes),
      " + ", megabytes(memory.resident.bytes_per_row * 1e6),
      " a million rows = ", megabytes(ResidentBytes(memory.resident, rows)), " for ", rows,
      " rows, of ", megabytes(kResidentSafety * static_cast<double>(memory.limit_bytes)));
}

std::string EstimateText(const ConsideredWay& way) {
  const double seconds = way.estimate.seconds;
  return base::Concat("about ", Number(seconds, seconds < 0.0995 ? "%.2g s" : "%.3g s"), ", ",
                      Bytes(static_cast<int64_t>(way.estimate.bytes_read)), " read, ",
                      Bytes(way.memory_bytes), " of memory");
}

// The way that was chosen and the others of the same path; of a run the one that it went.
void AddWays(const JoinPlan& plan, const JoinReport* report, PlanNode::Entries* details) {
  const bool ran = report != nullptr && !report->way.empty();
  for (const ConsideredWay& way : plan.considered) {
    const bool taken = ran ? way.name == report->way : &way == plan.considered.data();
    if (!taken) continue;
    std::string text = way.name + ": " + EstimateText(way);
    if (ran) text += base::Concat("; it took ", Number(report->total_s, "%.3g s"));
    details->emplace_back("way", text);
  }
  for (const ConsideredWay& way : plan.considered) {
    if (ran ? way.name == report->way : &way == plan.considered.data()) continue;
    details->emplace_back(
        "way not taken",
        way.name + ": " + (way.fits ? EstimateText(way) : "doesn't fit the memory limit"));
  }
}

std::string ThreadsText(const JoinPlan& plan) {
  const char* unit = plan.threads == 1 ? " thread" : " threads";
  if (plan.threads == plan.threads_asked) return base::Concat(plan.threads, unit);
  return base::Concat(plan.threads, unit, " of ", plan.threads_asked,
                      " (the limit has no room for the buffers of more)");
}

void AddDetails(const JoinPlan& plan, bool verbose, const JoinReport* report, PlanNode* node) {
  PlanNode::Entries& details = node->details;
  details.emplace_back("path", (plan.uses_index() ? "index; " : "exact; ") + plan.choice.reason);
  // The reason of the exact path names each index that doesn't fit.
  if (plan.uses_index()) {
    for (const std::string& other : plan.choice.others) details.emplace_back("not taken", other);
    if (IsTemporary(plan)) {
      const TemporaryIndex temporary = PlannedIndexOf(plan);
      details.emplace_back(
          "temporary index",
          base::Concat(temporary.training.index_type, " of ", temporary.training.num_partitions,
                       " partitions, built in ", Bytes(temporary.build_bytes),
                       " of memory: with it ", Number(temporary.index_work, "%.2g"),
                       " multiplications, scanning all rows ",
                       Number(temporary.scan_work, "%.2g")));
    }
  }
  if (!plan.uses_index() &&
      (plan.options.nprobes || plan.options.minimum_nprobes || plan.options.maximum_nprobes ||
       plan.options.refine_factor || plan.options.search_effort || plan.options.ef)) {
    details.emplace_back(
        "note", "probes, search_effort, ef and refine_factor have no effect without an index");
  }
  const MemoryPlan& memory = plan.memory;
  details.emplace_back(
      "limits", base::Concat("estimated memory ", Bytes(memory.total_bytes() - memory.slack_bytes),
                             " of ", Bytes(memory.limit_bytes), ", ", ThreadsText(plan), ": runs"));
  AddWays(plan, report, &details);
  if (!verbose) return;
  details.emplace_back(
      "memory",
      base::Concat("buffers ", Bytes(memory.fixed_bytes),
                   memory.pair_bytes > 0 ? ", pairs " + Bytes(memory.pair_bytes) : "",
                   ", query block ", Bytes(memory.block_bytes), ", kept partitions ",
                   Bytes(memory.cache_bytes),
                   memory.kept_bytes > 0 ? ", kept right rows " + Bytes(memory.kept_bytes) : "",
                   ", right rows ", Bytes(memory.take_bytes), ", output ",
                   Bytes(memory.output_bytes), ", slack ", Bytes(memory.slack_bytes)));
  if (plan.uses_index()) details.emplace_back("gate", GateText(memory));
  details.emplace_back("query block", base::Concat(memory.block_rows, " left rows"));
  details.emplace_back("distances", plan.exact_distances() ? "exact" : "approximate");
  if (plan.options.recall.has_value() && !plan.uses_index()) {
    details.emplace_back("recall", "1: every row is scored");
  }
}

void AddMetrics(const JoinPlan& plan, const JoinReport& report, PlanNode* node) {
  node->metrics = {{"output_rows", base::Concat(report.result_rows)},
                   {"left_rows", base::Concat(report.left_rows)},
                   {"skipped_null_rows", base::Concat(report.skipped_null_rows)},
                   {"skipped_non_finite_rows", base::Concat(report.skipped_non_finite_rows)},
                   {"duplicate_rows", base::Concat(report.duplicate_rows)},
                   {"short_rows", base::Concat(report.short_rows)},
                   {"capped_rows", base::Concat(report.capped_rows)},
                   {"exact_comparisons", base::Concat(report.exact_comparisons)}};
  if (plan.options.unordered_pairs || plan.options.mutual) {
    node->metrics.emplace_back("dropped_matches", base::Concat(report.dropped_matches));
  }
  if (plan.options.clusters) {
    node->metrics.emplace_back("clusters", base::Concat(report.clusters));
  }
  if (plan.right->dataset() != nullptr) {  // reads of other tables aren't counted
    node->metrics.emplace_back("requests", base::Concat(report.requests));
    node->metrics.emplace_back("bytes_read", base::Concat(report.bytes_read));
  }
  if (report.recall.has_value()) {
    const RecallEstimate& estimate = report.recall->estimate;
    node->metrics.emplace_back("recall", Number(estimate.recall, "%.4f"));
    node->metrics.emplace_back("recall_interval",
                               Number(estimate.low, "[%.4f") + Number(estimate.high, ", %.4f]"));
    node->metrics.emplace_back("rows_measured", base::Concat(estimate.rows));
    node->metrics.emplace_back("elapsed_choosing", Number(report.recall->choose_s, "%.3fs"));
  }
  node->metrics.emplace_back("peak_memory_bytes", base::Concat(report.peak_memory_bytes));
  if (report.measured_memory_bytes.has_value()) {
    node->metrics.emplace_back("measured_memory_bytes",
                               base::Concat(*report.measured_memory_bytes));
  }
  node->metrics.emplace_back("elapsed", Number(report.total_s, "%.3fs"));
}

}  // namespace

PlanNode DescribePlan(const JoinPlan& made, bool verbose, const JoinReport* report) {
  JoinPlan plan = made;
  if (report != nullptr && report->recall.has_value() && plan.uses_index() &&
      !report->recall->exact) {
    // A plan whose memory doesn't fit was never run.
    if (!ApplySettings(report->recall->chosen, &plan).ok()) plan = made;
  }
  PlanNode root{.name = "KnnJoin"};
  root.fields = {{"path", plan.uses_index() ? "index" : "exact"},
                 {"k", base::Concat(plan.options.k)},
                 {"metric", std::string(kernels::MetricName(plan.metric()))},
                 {"how", plan.options.how == How::kLeft ? "left" : "inner"},
                 {"right", plan.right->uri()}};
  if (plan.right->dataset() != nullptr) {
    root.fields.emplace_back("version", base::Concat(plan.right->dataset()->version()));
  }
  if (plan.options.distance_range.has_value()) {
    const auto [lower, upper] = *plan.options.distance_range;
    root.fields.emplace_back("distance_range", base::Concat("[", lower, ", ", upper, ")"));
  }
  if (!plan.options.by.empty()) root.fields.emplace_back("by", ListNames(plan.options.by));
  if (plan.options.exclude_self.has_value()) {
    const std::string& key = *plan.options.exclude_self;
    root.fields.emplace_back("exclude_self", key.empty() ? "row" : key);
  }
  if (plan.options.unordered_pairs) root.fields.emplace_back("unordered_pairs", "true");
  if (plan.options.mutual) {
    root.fields.emplace_back("mutual", plan.self_join ? "self-join" : "left searched exactly");
  }
  if (plan.options.clusters) root.fields.emplace_back("clusters", "true");
  if (plan.options.fast_search) root.fields.emplace_back("fast_search", "true");
  AddDetails(plan, verbose, report, &root);
  PlanNode take{.name = "Take"};
  take.fields = {{"columns", ListNames(plan.layout.right_columns)}};
  if (report != nullptr) {
    AddMetrics(plan, *report, &root);
    take.metrics = {{"elapsed_compute", Number(report->take_s, "%.3fs")}};
  }
  take.inputs.push_back(SearchNode(plan, report));
  root.inputs.push_back(std::move(take));
  return root;
}

}  // namespace kinjo::join
