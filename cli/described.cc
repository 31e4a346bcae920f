#include "described.h"

#include <nlohmann/json.hpp>

namespace kinjo::cli {

namespace {

using Json = nlohmann::json;

std::string TextOrNone(const Json& json) { return json.is_null() ? "" : json.get<std::string>(); }

DescribedSegment SegmentOf(const Json& json) {
  DescribedSegment segment;
  json.at("uuid").get_to(segment.uuid);
  json.at("dataset_version").get_to(segment.dataset_version);
  json.at("fragment_ids").get_to(segment.fragment_ids);
  segment.num_partitions = json.value("num_partitions", uint64_t{0});
  segment.dimension = json.value("dimension", uint64_t{0});
  segment.element_type = json.value("element_type", "");
  segment.num_rows = json.value("num_rows", uint64_t{0});
  segment.smallest_partition = json.value("smallest_partition", uint64_t{0});
  segment.largest_partition = json.value("largest_partition", uint64_t{0});
  return segment;
}

DescribedIndex IndexOf(const Json& json) {
  DescribedIndex index;
  json.at("name").get_to(index.name);
  json.at("column").get_to(index.column);
  json.at("type").get_to(index.type);
  index.metric = json.value("metric", "");
  json.at("usable").get_to(index.usable);
  json.at("unusable_reason").get_to(index.unusable_reason);
  json.at("covered_rows").get_to(index.covered_rows);
  json.at("uncovered_rows").get_to(index.uncovered_rows);
  json.at("uncovered_fragments").get_to(index.uncovered_fragments);
  for (const Json& segment : json.at("segments")) index.segments.push_back(SegmentOf(segment));
  return index;
}

DescribedBuild BuildOf(const Json& json) {
  DescribedBuild build;
  json.at("type").get_to(build.type);
  json.at("metric").get_to(build.metric);
  json.at("num_partitions").get_to(build.num_partitions);
  json.at("choices").get_to(build.choices);
  json.at("num_rows").get_to(build.num_rows);
  json.at("null_rows").get_to(build.null_rows);
  json.at("non_finite_rows").get_to(build.non_finite_rows);
  json.at("zero_rows").get_to(build.zero_rows);
  json.at("empty_partitions").get_to(build.empty_partitions);
  json.at("index_bytes").get_to(build.index_bytes);
  json.at("peak_memory_bytes").get_to(build.peak_memory_bytes);
  for (const char* step : {"train_s", "encode_s", "write_s"}) {
    build.total_s += json.at(step).get<double>();
  }
  return build;
}

}  // namespace

DescribedRuntime ReadRuntime(const std::string& text) {
  const Json json = Json::parse(text);
  DescribedRuntime runtime;
  json.at("version").get_to(runtime.version);
  json.at("arrow_version").get_to(runtime.arrow_version);
  json.at("simd_level").get_to(runtime.simd_level);
  json.at("simd_levels").get_to(runtime.simd_levels);
  json.at("threads").get_to(runtime.threads);
  json.at("memory_limit_bytes").get_to(runtime.memory_limit_bytes);
  return runtime;
}

DescribedDataset ReadDataset(const std::string& text) {
  const Json json = Json::parse(text);
  DescribedDataset dataset;
  json.at("uri").get_to(dataset.uri);
  json.at("version").get_to(dataset.version);
  json.at("versions").get_to(dataset.versions);
  for (const Json& tag : json.at("tags")) {
    dataset.tags.push_back({tag.at("name"), tag.at("version"), tag.at("branch")});
  }
  json.at("format_version").get_to(dataset.format_version);
  json.at("num_rows").get_to(dataset.num_rows);
  json.at("num_deleted_rows").get_to(dataset.num_deleted_rows);
  for (const Json& column : json.at("schema")) {
    dataset.columns.push_back({column.at("name"), column.at("type"), column.at("nullable")});
  }
  for (const Json& fragment : json.at("fragments")) {
    dataset.fragments.push_back({fragment.at("id"), fragment.at("rows"),
                                 fragment.at("deleted_rows"),
                                 fragment.at("files").get<std::vector<std::string>>()});
  }
  for (const Json& index : json.at("indexes")) dataset.indexes.push_back(IndexOf(index));
  for (const Json& index : json.at("scalar_indexes")) {
    dataset.scalar_indexes.push_back(IndexOf(index));
  }
  return dataset;
}

std::vector<DescribedVersion> ReadVersions(const std::string& text) {
  std::vector<DescribedVersion> versions;
  for (const Json& json : Json::parse(text)) {
    versions.push_back({json.at("version"), TextOrNone(json.at("made")),
                        TextOrNone(json.at("operation")), TextOrNone(json.at("writer")),
                        json.at("num_rows"), json.at("num_fragments"),
                        json.at("tags").get<std::vector<std::string>>()});
  }
  return versions;
}

std::vector<DescribedFile> ReadFiles(const std::string& text) {
  std::vector<DescribedFile> files;
  for (const Json& json : Json::parse(text)) {
    DescribedFile file{
        json.at("fragment_id"), json.at("path"), json.at("bytes"), json.at("format_version"), {}};
    for (const Json& column : json.at("columns")) {
      file.columns.push_back(
          {TextOrNone(column.at("name")), column.at("pages").get<std::vector<std::string>>()});
    }
    files.push_back(std::move(file));
  }
  return files;
}

std::string WithMembers(const std::string& dataset_json,
                        const std::vector<std::pair<std::string, std::string>>& members) {
  auto json = nlohmann::ordered_json::parse(dataset_json);
  for (const auto& [name, text] : members) json[name] = nlohmann::ordered_json::parse(text);
  return json.dump();
}

DescribedIndex ReadIndex(const std::string& text) { return IndexOf(Json::parse(text)); }

DescribedCurve ReadCurve(const std::string& text) {
  const Json json = Json::parse(text);
  DescribedCurve curve;
  json.at("index_name").get_to(curve.index_name);
  json.at("index_type").get_to(curve.index_type);
  json.at("metric").get_to(curve.metric);
  json.at("k").get_to(curve.k);
  json.at("target").get_to(curve.target);
  for (const Json& point : json.at("points")) {
    point.at("measured_rows").get_to(curve.measured_rows);
    curve.points.push_back({point.at("nprobes"), point.at("refine_factor"), point.at("ef"),
                            point.at("recall"), point.at("recall_low"), point.at("recall_high"),
                            point.at("queries_per_s"), point.at("bytes_read"),
                            point.at("partitions_read"), point.at("pick")});
  }
  return curve;
}

DescribedRun ReadRun(const std::string& report_json) {
  const Json json = Json::parse(report_json);
  return {json.value("index_name", ""), json.value("metric", ""),
          json.value("scored_all_passing", false), json.value("clusters", uint64_t{0})};
}

std::string IndexesJson(const std::string& text) {
  const auto json = nlohmann::ordered_json::parse(text);
  return nlohmann::ordered_json{{"indexes", json.at("indexes")},
                                {"scalar_indexes", json.at("scalar_indexes")}}
      .dump();
}

DescribedIndexChange ReadCreated(const std::string& text) {
  const Json json = Json::parse(text);
  DescribedIndexChange change;
  json.at("name").get_to(change.name);
  json.at("version").get_to(change.version);
  change.build = BuildOf(json);
  return change;
}

DescribedIndexChange ReadOptimized(const std::string& text) {
  const Json json = Json::parse(text);
  DescribedIndexChange change;
  json.at("name").get_to(change.name);
  json.at("version").get_to(change.version);
  json.at("changed").get_to(change.changed);
  change.replaced_segments = json.at("replaced").size();
  if (change.changed) change.build = BuildOf(json.at("segment"));
  return change;
}

}  // namespace kinjo::cli
