#include "dataset/index_params.h"

#include <algorithm>
#include <cctype>

namespace kinjo::dataset {

namespace {

using format::ElementType;
using format::QuantizerKind;
using kernels::Metric;

constexpr int64_t kMaxDefaultPartitions = 4096;

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// Rows a partition that Lance aims at.
int64_t TargetPartitionRows(format::IndexKind kind) {
  if (kind.has_graph) return 1048576;
  const bool small = kind.quantizer == QuantizerKind::kFlat || kind.quantizer == QuantizerKind::kRq;
  return small ? 4096 : 8192;
}

arrow::Status CheckRange(const char* name, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return arrow::Status::OK();
  return base::Invalid(name, " = ", value, ": it must be from ", low, " to ", high);
}

arrow::Result<Metric> ResolveMetric(const IndexParams& params, const IndexedVectors& vectors) {
  const bool bits = vectors.element == ElementType::kUint8;
  if (params.metric.empty()) {
    if (vectors.lists) return Metric::kCosine;
    return bits ? Metric::kHamming : Metric::kL2;
  }
  const std::optional<Metric> metric = kernels::ParseMetric(params.metric);
  if (!metric.has_value()) {
    return base::Invalid("metric is '", params.metric, "'; it is one of l2, cosine, dot, hamming");
  }
  if (bits != (*metric == Metric::kHamming)) {
    return base::Invalid("metric = ", kernels::MetricName(*metric), ": an index on column '",
                         vectors.column, "' of ", format::ElementTypeName(vectors.element),
                         bits ? " needs hamming" : " needs l2, cosine or dot");
  }
  if (vectors.lists && *metric != Metric::kCosine) {
    return base::Invalid("metric = ", kernels::MetricName(*metric), ": an index on column '",
                         vectors.column, "', whose rows are lists of vectors, needs cosine");
  }
  return *metric;
}

arrow::Result<format::IndexKind> ResolveKind(const IndexParams& params,
                                             const IndexedVectors& vectors) {
  const std::optional<format::IndexKind> kind = format::ParseIndexKind(Upper(params.type));
  if (!kind.has_value()) {
    return base::Invalid("type is '", params.type, "'; it is one of ", format::IndexTypeNames());
  }
  if (vectors.element == ElementType::kUint8 && kind->quantizer != QuantizerKind::kFlat) {
    return base::Invalid("type = ", Upper(params.type), ": column '", vectors.column,
                         "' of uint8 can have IVF_FLAT or IVF_HNSW_FLAT");
  }
  if (kind->quantizer == QuantizerKind::kRq && vectors.dim % 8 != 0) {
    return base::Invalid("type = ", Upper(params.type), ": column '", vectors.column,
                         "' has width ", vectors.dim, ", and IVF_RQ needs a multiple of 8");
  }
  return *kind;
}

/// How good a width of sub-vectors is, least best: 8, then narrower ones down to 4, then wider
/// ones, then those narrower still.
int64_t WidthRank(int64_t width) {
  if (width <= 8 && width >= 4) return 8 - width;
  if (width > 8 && width <= 16) return width;
  return width < 4 ? 20 - width : 20 + width;
}

int64_t DefaultSubVectors(int64_t dim, int64_t num_bits) {
  int64_t best = 0;
  for (int64_t count = 1; count <= dim; ++count) {
    if (dim % count != 0 || (num_bits == 4 && count % 2 != 0)) continue;
    if (best == 0 || WidthRank(dim / count) < WidthRank(dim / best)) best = count;
  }
  return best;
}

arrow::Status ResolvePq(const IndexParams& params, const IndexedVectors& vectors,
                        ResolvedParams* out) {
  out->num_bits = params.num_bits == 0 ? 8 : params.num_bits;
  if (out->num_bits != 4 && out->num_bits != 8) {
    return base::Invalid("num_bits = ", out->num_bits, ": codes of IVF_PQ have 4 or 8 bits");
  }
  out->num_sub_vectors = params.num_sub_vectors;
  if (out->num_sub_vectors == 0) {
    out->num_sub_vectors = DefaultSubVectors(vectors.dim, out->num_bits);
    if (out->num_sub_vectors == 0) {
      return base::Invalid(
          "num_bits = 4: it needs an even number of sub-vectors that divides the "
          "width, and column '",
          vectors.column, "' has width ", vectors.dim, "; take num_bits = 8");
    }
    out->choices.push_back(base::Concat("num_sub_vectors = ", out->num_sub_vectors, ": width ",
                                        vectors.dim, ", ", vectors.dim / out->num_sub_vectors,
                                        " elements each"));
  }
  ARROW_RETURN_NOT_OK(CheckRange("num_sub_vectors", out->num_sub_vectors, 1, vectors.dim));
  if (vectors.dim % out->num_sub_vectors != 0) {
    return base::Invalid("num_sub_vectors = ", out->num_sub_vectors, ": it must divide the width ",
                         vectors.dim, " of column '", vectors.column, "'");
  }
  if (out->num_bits == 4 && out->num_sub_vectors % 2 != 0) {
    return base::Invalid("num_sub_vectors = ", out->num_sub_vectors,
                         ": with num_bits = 4 it must be even");
  }
  return arrow::Status::OK();
}

arrow::Status ResolveQuantizer(const IndexParams& params, const IndexedVectors& vectors,
                               ResolvedParams* out) {
  const QuantizerKind kind = out->kind.quantizer;
  if (kind == QuantizerKind::kPq) return ResolvePq(params, vectors, out);
  if (params.num_sub_vectors != 0) {
    return base::Invalid("num_sub_vectors = ", params.num_sub_vectors,
                         ": only types with PQ have sub-vectors");
  }
  if (kind == QuantizerKind::kRq) {
    out->num_bits = params.num_bits == 0 ? 5 : params.num_bits;
    return CheckRange("num_bits", out->num_bits, 1, 9);
  }
  out->num_bits = kind == QuantizerKind::kSq ? 8 : 0;
  if (params.num_bits == 0 || params.num_bits == out->num_bits) return arrow::Status::OK();
  return base::Invalid(
      "num_bits = ", params.num_bits, ": ",
      kind == QuantizerKind::kSq ? "codes of SQ have 8 bits" : "FLAT has no codes");
}

arrow::Status ResolvePartitions(const IndexParams& params, const IndexedVectors& vectors,
                                ResolvedParams* out) {
  if (params.centroids.has_value()) {
    const format::Tensor& given = *params.centroids;
    if (given.type != vectors.element || given.rows == 0 ||
        given.cols != static_cast<uint64_t>(vectors.dim)) {
      return base::Invalid("the given centroids are ", given.rows, " x ", given.cols, " of ",
                           format::ElementTypeName(given.type), ", and column '", vectors.column,
                           "' has width ", vectors.dim, " of ",
                           format::ElementTypeName(vectors.element));
    }
    out->num_partitions = static_cast<int64_t>(given.rows);
    if (params.num_partitions == 0 || params.num_partitions == out->num_partitions) {
      return arrow::Status::OK();
    }
    return base::Invalid("num_partitions = ", params.num_partitions, ", but ", given.rows,
                         " centroids are given");
  }
  if (params.num_partitions != 0) {
    out->num_partitions = params.num_partitions;
    return CheckRange("num_partitions", out->num_partitions, 1, 1 << 24);
  }
  int64_t target = params.target_partition_size;
  if (target == 0) target = TargetPartitionRows(out->kind);
  ARROW_RETURN_NOT_OK(CheckRange("target_partition_size", target, 1, int64_t{1} << 31));
  out->num_partitions = std::clamp<int64_t>(vectors.num_rows / target, 1, kMaxDefaultPartitions);
  out->choices.push_back(base::Concat("num_partitions = ", out->num_partitions, ": ",
                                      vectors.num_rows, " rows, about ", target, " a partition"));
  return arrow::Status::OK();
}

arrow::Status CheckCodebook(const IndexParams& params, const IndexedVectors& vectors,
                            const ResolvedParams& resolved) {
  if (!params.codebook.has_value()) return arrow::Status::OK();
  if (resolved.kind.quantizer != QuantizerKind::kPq) {
    return base::Invalid("a codebook is given, but type = ", Upper(params.type), " has none");
  }
  if (!params.centroids.has_value() && resolved.metric != Metric::kDot) {
    return base::Invalid(
        "a codebook is given without centroids: it codes what is left of a vector "
        "beside its centroid");
  }
  const format::Tensor& given = *params.codebook;
  const auto rows = static_cast<uint64_t>(resolved.num_sub_vectors) << resolved.num_bits;
  const auto cols = static_cast<uint64_t>(vectors.dim / resolved.num_sub_vectors);
  if (given.type == vectors.element && given.rows == rows && given.cols == cols) {
    return arrow::Status::OK();
  }
  return base::Invalid("the given codebook is ", given.rows, " x ", given.cols, " of ",
                       format::ElementTypeName(given.type), " where ", rows, " x ", cols, " of ",
                       format::ElementTypeName(vectors.element), " are wanted");
}

}  // namespace

arrow::Result<ResolvedParams> ResolveIndexParams(const IndexParams& params,
                                                 const IndexedVectors& vectors) {
  ResolvedParams out;
  ARROW_ASSIGN_OR_RAISE(out.kind, ResolveKind(params, vectors));
  ARROW_ASSIGN_OR_RAISE(out.metric, ResolveMetric(params, vectors));
  ARROW_RETURN_NOT_OK(ResolveQuantizer(params, vectors, &out));
  ARROW_RETURN_NOT_OK(ResolvePartitions(params, vectors, &out));
  ARROW_RETURN_NOT_OK(CheckCodebook(params, vectors, out));
  ARROW_RETURN_NOT_OK(CheckRange("sample_rate", params.sample_rate, 1, 1 << 20));
  ARROW_RETURN_NOT_OK(CheckRange("max_iterations", params.max_iterations, 1, 10000));
  out.sample_rate = params.sample_rate;
  out.max_iterations = params.max_iterations;
  out.seed = params.seed;
  if (out.kind.has_graph) {
    ARROW_RETURN_NOT_OK(CheckRange("m", params.m, 2, 1024));
    ARROW_RETURN_NOT_OK(CheckRange("ef_construction", params.ef_construction, 1, 65536));
    ARROW_RETURN_NOT_OK(CheckRange("max_level", params.max_level, 1, 16));
    out.graphs = {.m = static_cast<uint32_t>(params.m),
                  .ef_construction = static_cast<uint32_t>(params.ef_construction),
                  .max_level = static_cast<uint32_t>(params.max_level)};
  }
  return out;
}

}  // namespace kinjo::dataset
