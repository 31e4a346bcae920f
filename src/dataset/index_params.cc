#include "dataset/index_params.h"

#include <algorithm>
#include <cctype>

#include "index/build_defaults.h"

namespace kinjo::dataset {

namespace {

using format::ElementType;
using format::QuantizerKind;
using kernels::Metric;

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

arrow::Status CheckRange(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return arrow::Status::OK();
  return base::Invalid(name, " must be from ", low, " to ", high, ", not ", value);
}

arrow::Result<Metric> ResolveMetric(const IndexParams& params, const IndexedVectors& vectors) {
  if (params.metric.empty()) {
    if (vectors.lists) return Metric::kCosine;
    return vectors.element == ElementType::kUint8 ? Metric::kHamming : Metric::kL2;
  }
  const std::optional<Metric> metric = kernels::ParseMetric(params.metric);
  if (!metric.has_value()) {
    return base::Invalid("metric is '", params.metric, "'; it must be l2, cosine, dot or hamming");
  }
  if (vectors.lists && *metric != Metric::kCosine) {
    return base::Invalid("metric is '", params.metric, "'; an index on column '", vectors.column,
                         "', whose rows are lists of vectors, needs cosine");
  }
  return *metric;
}

arrow::Status ResolveQuantizer(const IndexParams& params, const IndexedVectors& vectors,
                               ResolvedParams* out) {
  index::TrainingOptions& training = out->training;
  training.num_sub_vectors = params.num_sub_vectors;
  const QuantizerKind kind = out->kind.quantizer;
  if (kind == QuantizerKind::kFlat && params.num_bits != 0) {
    return base::Invalid("num_bits = ", params.num_bits, " is given, but ", training.index_type,
                         " stores vectors as they are");
  }
  training.num_bits = static_cast<int>(params.num_bits);
  if (params.num_bits == 0) training.num_bits = kind == QuantizerKind::kRq ? 5 : 8;
  if (kind != QuantizerKind::kPq) {
    if (params.num_sub_vectors == 0) return arrow::Status::OK();
    return base::Invalid("num_sub_vectors = ", params.num_sub_vectors, " is given, but ",
                         training.index_type, " has no sub-vectors");
  }
  if (params.num_sub_vectors != 0) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(training.num_sub_vectors,
                        index::DefaultSubVectors(vectors.dim, training.num_bits));
  out->choices.push_back(
      index::ExplainSubVectors(vectors.dim, training.num_bits, training.num_sub_vectors));
  return arrow::Status::OK();
}

arrow::Status ResolvePartitions(const IndexParams& params, const IndexedVectors& vectors,
                                ResolvedParams* out) {
  out->training.num_partitions = params.num_partitions;
  if (params.centroids.has_value()) {
    const auto given = static_cast<int64_t>(params.centroids->rows);
    if (params.num_partitions != 0 && params.num_partitions != given) {
      return base::Invalid("num_partitions = ", params.num_partitions, ", but ", given,
                           " centroids are given");
    }
    out->training.num_partitions = given;
  }
  if (out->training.num_partitions != 0) return arrow::Status::OK();
  out->training.num_partitions =
      index::DefaultPartitions(out->kind, vectors.num_rows, params.target_partition_size);
  out->choices.push_back(
      index::ExplainPartitions(out->kind, vectors.num_rows, params.target_partition_size));
  return arrow::Status::OK();
}

arrow::Status ResolveGraphs(const IndexParams& params, ResolvedParams* out) {
  if (!out->kind.has_graph) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(CheckRange("m", params.m, 2, 1024));
  ARROW_RETURN_NOT_OK(CheckRange("ef_construction", params.ef_construction, 1, 65536));
  ARROW_RETURN_NOT_OK(CheckRange("max_level", params.max_level, 1, 16));
  out->graphs = {.m = static_cast<uint32_t>(params.m),
                 .ef_construction = static_cast<uint32_t>(params.ef_construction),
                 .max_level = static_cast<uint32_t>(params.max_level)};
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<ResolvedParams> ResolveIndexParams(const IndexParams& params,
                                                 const IndexedVectors& vectors) {
  ResolvedParams out;
  index::TrainingOptions& training = out.training;
  training.index_type = Upper(params.type);
  const auto kind = format::ParseIndexKind(training.index_type);
  if (!kind.has_value()) {
    return base::Invalid("type is '", params.type, "'; there are: ", format::IndexTypeNames());
  }
  out.kind = *kind;
  ARROW_ASSIGN_OR_RAISE(training.metric, ResolveMetric(params, vectors));
  ARROW_RETURN_NOT_OK(ResolveQuantizer(params, vectors, &out));
  ARROW_RETURN_NOT_OK(ResolvePartitions(params, vectors, &out));
  ARROW_RETURN_NOT_OK(ResolveGraphs(params, &out));
  training.sample_rate = params.sample_rate;
  training.max_iterations = static_cast<int>(std::min<int64_t>(params.max_iterations, 1 << 20));
  training.seed = params.seed;
  training.centroids = params.centroids;
  training.codebook = params.codebook;
  ARROW_RETURN_NOT_OK(index::CheckTrainingOptions(training, vectors.element, vectors.dim));
  return out;
}

}  // namespace kinjo::dataset
