#include "capi/index_text.h"

#include <cstdint>

#include "arrow/util/base64.h"
#include "format/index_file/segment_writer.h"
#include "kernels/metric.h"
#include "nlohmann/json.hpp"

namespace kinjo::capi {

namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void AddBuilt(const dataset::BuiltSegment& built, Json* json) {
  const dataset::IndexBuildReport& report = built.report;
  const dataset::IndexSegment& segment = built.segment;
  json->update({{"column", segment.column},
                {"type", segment.type},
                {"metric", segment.metric},
                {"num_partitions", report.params.training.num_partitions},
                {"num_sub_vectors", report.params.training.num_sub_vectors},
                {"num_bits", report.params.kind.quantizer == format::QuantizerKind::kFlat
                                 ? 0
                                 : report.params.training.num_bits},
                {"choices", report.params.choices},
                {"num_rows", segment.num_rows},
                {"null_rows", report.left_out.null_rows},
                {"non_finite_rows", report.left_out.odd_rows},
                {"zero_rows", report.left_out.zero_rows},
                {"trained_rows", report.trained_rows},
                {"empty_partitions", report.empty_partitions},
                {"largest_partition", report.largest_partition},
                {"index_bytes", segment.index_bytes + segment.auxiliary_bytes},
                {"peak_memory_bytes", report.peak_memory_bytes},
                {"train_s", report.train_s},
                {"encode_s", report.encode_s},
                {"write_s", report.write_s},
                {"uuid", segment.uuid},
                {"fragment_ids", segment.fragment_ids}});
}

// Reads a member of the right kind, or says that there is none.
template <typename T>
bool Read(const Json& json, const char* name, T* out) {
  const auto found = json.find(name);
  if (found == json.end()) return false;
  if constexpr (std::is_same_v<T, std::string>) {
    if (!found->is_string()) return false;
  } else if constexpr (std::is_same_v<T, std::vector<uint64_t>>) {
    if (!found->is_array()) return false;
    for (const Json& value : *found) {
      if (!value.is_number_unsigned()) return false;
    }
  } else {
    if (!found->is_number_integer()) return false;
  }
  *out = found->get<T>();
  return true;
}

}  // namespace

std::string DescribeCreated(const dataset::CreatedIndex& created) {
  Json json = {{"name", created.name}, {"version", created.version}};
  AddBuilt(created.built, &json);
  return Text(json);
}

std::string DescribeOptimized(const dataset::OptimizedIndex& optimized) {
  Json json = {{"name", optimized.name},
               {"version", optimized.version},
               {"changed", optimized.changed},
               {"replaced", optimized.replaced},
               {"segment", nullptr}};
  if (optimized.built.has_value()) {
    Json segment = Json::object();
    AddBuilt(*optimized.built, &segment);
    json["segment"] = std::move(segment);
  }
  return Text(json);
}

std::string SegmentText(const dataset::IndexSegment& segment) {
  return Text({{"uuid", segment.uuid},
               {"column", segment.column},
               {"field_id", segment.field_id},
               {"dataset_version", segment.dataset_version},
               {"fragment_ids", segment.fragment_ids},
               {"type", segment.type},
               {"metric", segment.metric},
               {"details", arrow::util::base64_encode(segment.details)},
               {"num_rows", segment.num_rows},
               {"index_bytes", segment.index_bytes},
               {"auxiliary_bytes", segment.auxiliary_bytes}});
}

arrow::Result<dataset::IndexSegment> ReadSegmentText(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  dataset::IndexSegment segment;
  std::string details;
  const bool read = json.is_object() && Read(json, "uuid", &segment.uuid) &&
                    Read(json, "column", &segment.column) &&
                    Read(json, "field_id", &segment.field_id) &&
                    Read(json, "dataset_version", &segment.dataset_version) &&
                    Read(json, "fragment_ids", &segment.fragment_ids) &&
                    Read(json, "type", &segment.type) && Read(json, "metric", &segment.metric) &&
                    Read(json, "details", &details) && Read(json, "num_rows", &segment.num_rows) &&
                    Read(json, "index_bytes", &segment.index_bytes) &&
                    Read(json, "auxiliary_bytes", &segment.auxiliary_bytes);
  if (!read) {
    return base::Invalid("a text that stands for an index segment isn't one that a build gave");
  }
  ARROW_ASSIGN_OR_RAISE(segment.details, arrow::util::base64_decode(details));
  return segment;
}

}  // namespace kinjo::capi
