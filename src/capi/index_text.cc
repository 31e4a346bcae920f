#include "capi/index_text.h"

#include <cstdint>
#include <string_view>
#include <utility>

#include "arrow/buffer.h"
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

constexpr const char* kNoModel = "model: the text isn't one that the training of an index gave";

Json MatrixJson(const format::Tensor& matrix) {
  const std::string_view bytes(reinterpret_cast<const char*>(matrix.data->data()),
                               static_cast<size_t>(matrix.data->size()));
  return {
      {"rows", matrix.rows}, {"cols", matrix.cols}, {"values", arrow::util::base64_encode(bytes)}};
}

bool ReadElementType(const Json& json, format::ElementType* type) {
  std::string name;
  if (!Read(json, "element_type", &name)) return false;
  using enum format::ElementType;
  for (const format::ElementType known : {kFloat16, kFloat32, kFloat64, kUint8}) {
    *type = known;
    if (name == format::ElementTypeName(known)) return true;
  }
  return false;
}

// A matrix whose numbers of rows and columns are those of its values.
bool ReadMatrix(const Json& json, const char* name, format::ElementType type,
                format::Tensor* matrix) {
  const auto found = json.find(name);
  std::string values;
  if (found == json.end() || !found->is_object() || !Read(*found, "rows", &matrix->rows) ||
      !Read(*found, "cols", &matrix->cols) || !Read(*found, "values", &values)) {
    return false;
  }
  auto bytes = arrow::util::base64_decode(values);
  if (!bytes.ok() || matrix->rows == 0 || matrix->cols == 0) return false;
  const uint64_t elements = bytes->size() / format::ElementBytes(type);
  matrix->type = type;
  const bool fits = bytes->size() % format::ElementBytes(type) == 0 &&
                    elements % matrix->cols == 0 && elements / matrix->cols == matrix->rows;
  matrix->data = arrow::Buffer::FromString(std::move(*bytes));
  return fits;
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

std::string ModelText(const dataset::IndexModel& model) {
  Json json = {{"element_type", format::ElementTypeName(model.centroids.type)},
               {"centroids", MatrixJson(model.centroids)},
               {"codebook", nullptr}};
  if (model.codebook.has_value()) json["codebook"] = MatrixJson(*model.codebook);
  return Text(json);
}

arrow::Result<dataset::IndexModel> ReadModelText(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  dataset::IndexModel model;
  format::ElementType type;
  const bool read = json.is_object() && ReadElementType(json, &type) &&
                    ReadMatrix(json, "centroids", type, &model.centroids);
  if (!read) return base::Invalid(kNoModel);
  const auto codebook = json.find("codebook");
  if (codebook == json.end() || codebook->is_null()) return model;
  model.codebook.emplace();
  if (!ReadMatrix(json, "codebook", type, &*model.codebook)) return base::Invalid(kNoModel);
  return model;
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
