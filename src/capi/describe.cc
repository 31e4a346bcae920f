#include "capi/describe.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>
#include <vector>

#include "arrow/config.h"
#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "dataset/history.h"
#include "format/index_file/index_files.h"
#include "index/ivf_segment.h"
#include "kernels/simd_level.h"
#include "kinjo/kinjo.h"
#include "nlohmann/json.hpp"

namespace kinjo::capi {

namespace {

using Json = nlohmann::ordered_json;

// A path that isn't UTF-8 must not make describing it fail.
std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json DescribeSchema(const arrow::Schema& schema) {
  Json fields = Json::array();
  for (const std::shared_ptr<arrow::Field>& field : schema.fields()) {
    fields.push_back({{"name", field->name()},
                      {"type", field->type()->ToString()},
                      {"nullable", field->nullable()}});
  }
  return fields;
}

Json DescribeFragments(const dataset::Dataset& dataset) {
  Json fragments = Json::array();
  for (const dataset::FragmentInfo& fragment : dataset.fragments()) {
    fragments.push_back({{"id", fragment.id},
                         {"rows", fragment.physical_rows - fragment.deleted_rows},
                         {"deleted_rows", fragment.deleted_rows},
                         {"physical_rows", fragment.physical_rows},
                         {"files", fragment.files}});
  }
  return fragments;
}

// What is told of an index of either kind: `Info` is IndexInfo or ScalarIndexInfo. With the part of
// the dataset that the index covers, which decides how much is scanned beside it.
template <typename Info>
Json DescribeIndexInfo(const dataset::Dataset& dataset, const Info& index, const std::string& type,
                       const std::string& metric) {
  std::set<uint64_t> covered;
  Json segments = Json::array();
  for (const dataset::IndexSegmentInfo& segment : index.segments) {
    covered.insert(segment.fragment_ids.begin(), segment.fragment_ids.end());
    segments.push_back({{"uuid", segment.uuid},
                        {"dataset_version", segment.dataset_version},
                        {"fragment_ids", segment.fragment_ids}});
  }
  uint64_t covered_rows = 0;
  Json uncovered_fragments = Json::array();
  for (const dataset::FragmentInfo& fragment : dataset.fragments()) {
    if (covered.count(fragment.id) != 0) {
      covered_rows += fragment.physical_rows - fragment.deleted_rows;
    } else {
      uncovered_fragments.push_back(fragment.id);
    }
  }
  return {{"name", index.name},
          {"column", index.column},
          {"type", type},
          {"metric", metric},
          {"usable", index.unusable_reason.empty()},
          {"unusable_reason", index.unusable_reason},
          {"covered_rows", covered_rows},
          {"uncovered_rows", dataset.num_rows() - std::min(covered_rows, dataset.num_rows())},
          {"uncovered_fragments", std::move(uncovered_fragments)},
          {"segments", std::move(segments)}};
}

Json DescribeIndexInfo(const dataset::Dataset& dataset, const dataset::IndexInfo& index) {
  return DescribeIndexInfo(dataset, index, index.type, index.metric);
}

Json DescribeScalarIndexes(const dataset::Dataset& dataset) {
  Json indexes = Json::array();
  for (const dataset::ScalarIndexInfo& index : dataset.scalar_indexes()) {
    const bool is_btree = index.kind == dataset::ScalarIndexKind::kBtree;
    indexes.push_back(DescribeIndexInfo(dataset, index, is_btree ? "BTREE" : "BITMAP", ""));
    indexes.back().erase("metric");
  }
  return indexes;
}

// Adds what only the segment's own files tell.
void DescribeSegment(const index::IvfSegment& segment, Json* json) {
  uint64_t rows = 0;
  uint64_t smallest = segment.num_partitions() > 0 ? segment.partition_rows(0) : 0;
  uint64_t largest = 0;
  for (int64_t partition = 0; partition < segment.num_partitions(); ++partition) {
    const uint64_t size = segment.partition_rows(partition);
    rows += size;
    smallest = std::min(smallest, size);
    largest = std::max(largest, size);
  }
  (*json)["num_partitions"] = segment.num_partitions();
  (*json)["dimension"] = segment.dim();
  (*json)["element_type"] = format::ElementTypeName(segment.element_type());
  (*json)["num_rows"] = rows;
  (*json)["smallest_partition"] = smallest;
  (*json)["largest_partition"] = largest;
  (*json)["exact_codes"] = segment.is_exact();
}

// Null where no target was asked for; numbers that aren't known are null too.
Json DescribeRecall(const std::optional<join::RecallReport>& recall) {
  if (!recall.has_value()) return nullptr;
  Json json = {
      {"target", recall->target}, {"recall", nullptr}, {"low", nullptr}, {"high", nullptr}};
  if (recall->exact || recall->measured) {
    json["recall"] = recall->estimate.recall;
    json["low"] = recall->estimate.low;
    json["high"] = recall->estimate.high;
  }
  json["measured_rows"] = recall->estimate.rows;
  json["choosing_rows"] = recall->choosing_rows;
  json["nprobes"] = recall->exact ? 0 : recall->chosen.nprobes;
  json["refine_factor"] = recall->chosen.refine_factor;
  json["ef"] = recall->chosen.ef;
  return json;
}

Json OrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

/// As UTC with what its fraction needs; null where it isn't told.
Json TimeText(const dataset::PastVersion& past) {
  if (past.seconds == 0 && past.nanos == 0) return nullptr;
  const std::time_t seconds = past.seconds;
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return nullptr;
  char text[64];
  std::string time(text, std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts));
  if (past.nanos > 0) {
    const std::string digits = std::to_string(past.nanos);
    time += '.';
    time.append(9 - std::min<size_t>(digits.size(), 9), '0');
    time += digits;
    time.resize(time.find_last_not_of('0') + 1);
  }
  time += 'Z';
  return time;
}

arrow::Status NoSuchIndex(const dataset::Dataset& dataset, const std::string& name) {
  std::string known;
  for (const dataset::IndexInfo& index : dataset.vector_indexes()) {
    known += (known.empty() ? "" : ", ") + index.name;
  }
  return base::NotFound(dataset.uri(), " has no vector index named '", name, "'; it has ",
                        known.empty() ? "none" : known);
}

}  // namespace

std::string DescribeRuntime() {
  return Text({{"version", kinjo_version()},
               {"arrow_version", ARROW_VERSION_STRING},
               {"simd_level", kernels::CurrentSimdLevel()},
               {"simd_levels", kernels::AvailableSimdLevels()},
               {"threads", base::DefaultThreadCount()},
               {"memory_limit_bytes", base::DefaultMemoryLimitBytes()}});
}

arrow::Result<std::string> DescribeDataset(const dataset::Dataset& dataset) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<format::Tag> tags, dataset.ListTags());
  Json described_tags = Json::array();
  for (const format::Tag& tag : tags) {
    described_tags.push_back(
        {{"name", tag.name}, {"version", tag.version}, {"branch", tag.branch}});
  }
  uint64_t deleted_rows = 0;
  for (const dataset::FragmentInfo& fragment : dataset.fragments()) {
    deleted_rows += fragment.deleted_rows;
  }
  Json indexes = Json::array();
  for (const dataset::IndexInfo& index : dataset.vector_indexes()) {
    indexes.push_back(DescribeIndexInfo(dataset, index));
  }
  return Text({{"uri", dataset.uri()},
               {"version", dataset.version()},
               {"versions", dataset.versions()},
               {"tags", std::move(described_tags)},
               {"format_version", dataset.data_format_version()},
               {"num_rows", dataset.num_rows()},
               {"num_deleted_rows", deleted_rows},
               {"schema", DescribeSchema(*dataset.arrow_schema())},
               {"fragments", DescribeFragments(dataset)},
               {"indexes", std::move(indexes)},
               {"scalar_indexes", DescribeScalarIndexes(dataset)}});
}

arrow::Result<std::string> DescribeVersions(const dataset::Dataset& dataset) {
  ARROW_ASSIGN_OR_RAISE(const auto history, dataset::ListHistory(dataset.uri()));
  ARROW_ASSIGN_OR_RAISE(const std::vector<format::Tag> tags, dataset.ListTags());
  Json versions = Json::array();
  for (const dataset::PastVersion& past : history) {
    Json named = Json::array();
    for (const format::Tag& tag : tags) {
      if (tag.version == past.version && tag.branch.empty()) named.push_back(tag.name);
    }
    versions.push_back({{"version", past.version},
                        {"made", TimeText(past)},
                        {"operation", OrNull(past.operation)},
                        {"writer", OrNull(past.writer)},
                        {"num_rows", past.num_rows},
                        {"num_fragments", past.num_fragments},
                        {"tags", std::move(named)}});
  }
  return Text(versions);
}

arrow::Result<std::string> DescribeFiles(dataset::Dataset* dataset) {
  ARROW_ASSIGN_OR_RAISE(const auto stored, dataset->ListFiles());
  Json files = Json::array();
  for (const dataset::StoredFile& file : stored) {
    Json columns = Json::array();
    for (const dataset::StoredColumn& column : file.columns) {
      columns.push_back(
          {{"name", OrNull(column.name)}, {"number", column.number}, {"pages", column.pages}});
    }
    files.push_back({{"fragment_id", file.fragment_id},
                     {"path", file.path},
                     {"uri", file.uri},
                     {"bytes", file.size_bytes},
                     {"format_version", file.format_version},
                     {"columns", std::move(columns)}});
  }
  return Text(files);
}

arrow::Result<std::string> DescribeIndex(dataset::Dataset* dataset, const std::string& name) {
  const std::vector<dataset::IndexInfo>& indexes = dataset->vector_indexes();
  const auto found = std::find_if(indexes.begin(), indexes.end(),
                                  [&](const auto& index) { return index.name == name; });
  if (found == indexes.end()) return NoSuchIndex(*dataset, name);
  Json json = DescribeIndexInfo(*dataset, *found);
  if (found->unusable_reason.empty()) {
    for (size_t i = 0; i < found->segments.size(); ++i) {
      // One that covers nothing may have no files.
      if (found->segments[i].fragment_ids.empty()) continue;
      ARROW_ASSIGN_OR_RAISE(const auto segment, dataset->OpenSegment(*found, i));
      DescribeSegment(*segment, &json["segments"][i]);
    }
  }
  return Text(json);
}

std::string DescribeCurve(const join::RecallCurve& curve) {
  Json points = Json::array();
  for (const join::CurvePoint& point : curve.points) {
    points.push_back({{"nprobes", point.settings.nprobes},
                      {"refine_factor", point.settings.refine_factor},
                      {"ef", point.settings.ef},
                      {"recall", point.recall.recall},
                      {"recall_low", point.recall.low},
                      {"recall_high", point.recall.high},
                      {"measured_rows", point.recall.rows},
                      {"queries_per_s", point.queries_per_s},
                      {"bytes_read", point.bytes_read},
                      {"partitions_probed", point.partitions_probed},
                      {"partitions_read", point.partitions_read},
                      {"pick", point.pick}});
  }
  return Text({{"path", curve.path},
               {"index_name", curve.index_name},
               {"index_type", curve.index_type},
               {"metric", curve.metric},
               {"k", curve.k},
               {"target", curve.target},
               {"left_rows", curve.left_rows},
               {"choosing_rows", curve.choosing_rows},
               {"points", std::move(points)}});
}

std::string DescribeReport(const join::JoinReport& report) {
  return Text({{"path", report.path},
               {"index_name", report.index_name},
               {"metric", report.metric},
               {"way", report.way},
               {"estimated_s", report.estimated_s},
               {"exact_distances", report.exact_distances},
               {"left_rows", report.left_rows},
               {"resumed_rows", report.resumed_rows},
               {"result_rows", report.result_rows},
               {"skipped_null_rows", report.skipped_null_rows},
               {"skipped_non_finite_rows", report.skipped_non_finite_rows},
               {"duplicate_rows", report.duplicate_rows},
               {"short_rows", report.short_rows},
               {"capped_rows", report.capped_rows},
               {"dropped_matches", report.dropped_matches},
               {"clusters", report.clusters},
               {"partitions_ranked", report.partitions_ranked},
               {"partitions_probed", report.partitions_probed},
               {"partitions_read", report.partitions_read},
               {"partitions_skipped", report.partitions_skipped},
               {"index_comparisons", report.index_comparisons},
               {"exact_comparisons", report.exact_comparisons},
               {"rows_refined", report.rows_refined},
               {"rows_scanned", report.rows_scanned},
               {"filter_rows", report.filter_rows},
               {"filter_rows_evaluated", report.filter_rows_evaluated},
               {"scored_all_passing", report.scored_all_passing},
               {"filter_indexes", report.filter_indexes},
               {"recall", DescribeRecall(report.recall)},
               {"requests", report.requests},
               {"bytes_read", report.bytes_read},
               {"peak_memory_bytes", report.peak_memory_bytes},
               {"measured_memory_bytes", report.measured_memory_bytes.has_value()
                                             ? Json(*report.measured_memory_bytes)
                                             : Json(nullptr)},
               {"filter_s", report.filter_s},
               {"choose_s", report.recall ? report.recall->choose_s : 0.0},
               {"rank_s", report.rank_s},
               {"probe_s", report.probe_s},
               {"refine_s", report.refine_s},
               {"exact_s", report.exact_s},
               {"take_s", report.take_s},
               {"total_s", report.total_s}});
}

}  // namespace kinjo::capi
