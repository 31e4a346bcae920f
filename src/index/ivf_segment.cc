#include "index/ivf_segment.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "index/elements.h"
#include "index/files_segment.h"
#include "index/hamming_segment.h"
#include "index/hnsw_scorers.h"
#include "index/partition_ranker.h"
#include "index/quantizer.h"

namespace kinjo::index {

namespace {

/// Coarse model + quantizer. T is float for float16 and float32 indexes, double for float64.
template <typename T>
class IvfSegmentImpl final : public FilesSegment {
 public:
  IvfSegmentImpl(std::shared_ptr<format::IndexFiles> files, kernels::Metric metric,
                 std::unique_ptr<Quantizer<T>> quantizer)
      : FilesSegment(std::move(files)),
        metric_(metric),
        ranker_(WidenTensor<T>(this->files().ivf().centroids), dim(), metric),
        quantizer_(std::move(quantizer)) {
    if (has_graph()) scorers_ = MakeScorerMaker<T>(this->files(), metric);
  }

  kernels::Metric metric() const override { return metric_; }
  bool is_exact() const override { return quantizer_->is_exact(); }
  bool scans_bytes() const override { return quantizer_->scans_bytes(); }
  int64_t queries_for_codes() const override { return quantizer_->queries_for_codes(); }

  QueryBlock PrepareQueries(std::span<const double> vectors) const override;

  void RankPartitions(const QueryBlock& queries, int64_t begin, int64_t end, int64_t limit,
                      std::vector<std::vector<RankedPartition>>* out) const override {
    Rank(queries, begin, end, {.limit = limit}, out);
  }
  void PickPartitions(const QueryBlock& queries, int64_t begin, int64_t end, int64_t limit,
                      std::vector<std::vector<RankedPartition>>* out) const override {
    Rank(queries, begin, end, {.limit = limit, .any_order = true}, out);
  }

  void Decode(int64_t partition, const format::PartitionRows& stored,
              std::span<const uint64_t> addresses, uint64_t dead,
              DecodedPartition* out) const override;

  double MoveQuery(int64_t partition, const double* query, const DecodedPartition& rows,
                   float* moved) const override {
    return quantizer_->MoveQuery(ranker_.centroid(partition), query, rows, moved);
  }
  float Distance(int64_t partition, const double* query, const DecodedPartition& rows,
                 int64_t slot) const override {
    return static_cast<float>(quantizer_->Distance(ranker_.centroid(partition), query, rows, slot));
  }

  void DropUnmatchable(const format::PartitionRows& stored, std::span<uint64_t> addresses,
                       uint64_t dead) const override;
  std::unique_ptr<NodeScorer> MakeScorer(int64_t partition, const double* query,
                                         const format::PartitionRows& stored) const override {
    auto scorer =
        scorers_ == nullptr ? nullptr : scorers_->Make(ranker_.centroid(partition), query, stored);
    return scorer != nullptr ? std::move(scorer) : IvfSegment::MakeScorer(partition, query, stored);
  }

  /// A partition with rows whose centroid isn't finite, if there is one.
  std::optional<int64_t> FindOddPartition() const {
    for (int64_t p = 0; p < num_partitions(); ++p) {
      if (!ranker_.is_finite(p) && partition_rows(p) > 0) return p;
    }
    return std::nullopt;
  }

 private:
  void Rank(const QueryBlock& queries, int64_t begin, int64_t end, RankDepth depth,
            std::vector<std::vector<RankedPartition>>* out) const;

  const kernels::Metric metric_;
  const PartitionRanker<T> ranker_;
  const std::unique_ptr<Quantizer<T>> quantizer_;
  std::unique_ptr<ScorerMaker<T>> scorers_;  // null without graphs, and where there is no fast one
};

/// Scores by the segment's own distance.
class CanonicalScorer final : public NodeScorer {
 public:
  CanonicalScorer(const IvfSegment& segment, int64_t partition, const double* query,
                  const format::PartitionRows& stored)
      : segment_(segment), partition_(partition), query_(query) {
    rows_.codes = stored.codes;
    rows_.num_stored = stored.num_rows;
    rows_.storage_position.resize(1);
  }

  void Score(std::span<const uint32_t> nodes, float* distances) const override {
    for (const uint32_t node : nodes) {
      rows_.storage_position[0] = node;
      *distances++ = segment_.Distance(partition_, query_, rows_, 0);
    }
  }

 private:
  const IvfSegment& segment_;
  const int64_t partition_;
  const double* const query_;
  mutable DecodedPartition rows_;  // a view of the row that is scored
};

void RoundElements(format::ElementType type, double* values, int64_t count) {
  if (type == format::ElementType::kFloat16) {
    std::transform(values, values + count, values, RoundToFloat16);
  } else if (type == format::ElementType::kFloat32) {
    std::transform(values, values + count, values,
                   [](double value) { return static_cast<double>(static_cast<float>(value)); });
  }
}

// Divides by the norm; the largest element is divided out first, so that nothing overflows.
void Normalise(double* vector, int64_t dim) {
  double largest = 0;
  for (int64_t j = 0; j < dim; ++j) largest = std::max(largest, std::abs(vector[j]));
  if (largest == 0) return;
  double norm2 = 0;
  for (int64_t j = 0; j < dim; ++j) {
    vector[j] /= largest;
    norm2 += vector[j] * vector[j];
  }
  const double norm = std::sqrt(norm2);
  for (int64_t j = 0; j < dim; ++j) vector[j] /= norm;
}

template <typename T>
QueryBlock IvfSegmentImpl<T>::PrepareQueries(std::span<const double> vectors) const {
  QueryBlock block;
  block.dim = dim();
  block.num_queries = static_cast<int64_t>(vectors.size()) / block.dim;
  block.values.assign(vectors.begin(), vectors.end());
  if (!is_exact()) {
    RoundElements(element_type(), block.values.data(), static_cast<int64_t>(block.values.size()));
  }
  if (metric_ == kernels::Metric::kCosine) {
    for (int64_t i = 0; i < block.num_queries; ++i) {
      Normalise(block.values.data() + i * block.dim, block.dim);
    }
    // Only float16 is rounded again: there Lance's own rounding shows in the distances. A unit
    // vector in double is nearer to the truth than one in float32, and both agree with Lance to its
    // digits.
    if (element_type() == format::ElementType::kFloat16) {
      RoundElements(element_type(), block.values.data(), static_cast<int64_t>(block.values.size()));
    }
  }
  quantizer_->CodeQueries(&block);
  return block;
}

template <typename T>
void IvfSegmentImpl<T>::Rank(const QueryBlock& queries, int64_t begin, int64_t end, RankDepth depth,
                             std::vector<std::vector<RankedPartition>>* out) const {
  // Unit vectors, and what PrepareQueries rounded, stay as they are.
  if (!is_exact() || metric_ == kernels::Metric::kCosine ||
      element_type() == format::ElementType::kFloat64) {
    ranker_.Rank(queries, begin, end, depth, out);
    return;
  }
  QueryBlock rounded{.num_queries = end - begin, .dim = queries.dim};
  rounded.values.assign(queries.ranked_query(begin), queries.ranked_query(end));
  RoundElements(element_type(), rounded.values.data(), static_cast<int64_t>(rounded.values.size()));
  ranker_.Rank(rounded, 0, rounded.num_queries, depth, out);
}

template <typename T>
void IvfSegmentImpl<T>::Decode(int64_t partition, const format::PartitionRows& stored,
                               std::span<const uint64_t> addresses, uint64_t dead,
                               DecodedPartition* out) const {
  out->codes = stored.codes;
  out->ex_codes = stored.ex_codes;
  out->num_stored = stored.num_rows;
  out->has_bytes = false;
  quantizer_->Decode(ranker_.centroid(partition), stored, addresses, dead, out);
  if (out->make_codes && !out->has_bytes) out->rows.MakeCodes(0, out->rows.num_groups());
}

template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakeQuantizer(const format::IndexFiles& files,
                                                           kernels::Metric metric) {
  switch (files.ivf().kind.quantizer) {
    case format::QuantizerKind::kPq:
      return MakePqQuantizer<T>(files, metric);
    case format::QuantizerKind::kSq:
      return MakeSqQuantizer<T>(files, metric);
    case format::QuantizerKind::kRq:
      return MakeRqQuantizer<T>(files, metric);
    case format::QuantizerKind::kFlat:
      break;
  }
  return MakeFlatQuantizer<T>(files, metric);
}

template <typename T>
void IvfSegmentImpl<T>::DropUnmatchable(const format::PartitionRows& stored,
                                        std::span<uint64_t> addresses, uint64_t dead) const {
  DecodedPartition rows;
  rows.codes = stored.codes;
  rows.num_stored = stored.num_rows;
  quantizer_->KeepRows(addresses, dead, &rows);
  std::fill(addresses.begin(), addresses.end(), dead);
  for (size_t i = 0; i < rows.addresses.size(); ++i) {
    addresses[rows.storage_position[i]] = rows.addresses[i];
  }
}

template <typename T>
arrow::Result<std::shared_ptr<IvfSegment>> MakeSegment(std::shared_ptr<format::IndexFiles> files,
                                                       kernels::Metric metric) {
  ARROW_ASSIGN_OR_RAISE(auto quantizer, MakeQuantizer<T>(*files, metric));
  auto segment =
      std::make_shared<IvfSegmentImpl<T>>(std::move(files), metric, std::move(quantizer));
  if (const auto odd = segment->FindOddPartition()) {
    return base::MakeError(base::ErrorCode::kCorrupt,
                           base::Concat("The centroid of partition ", *odd,
                                        " of the index holds a NaN or an infinite value"));
  }
  return segment;
}

}  // namespace

arrow::Result<format::PartitionRows> IvfSegment::Load(int64_t partition) const {
  ARROW_ASSIGN_OR_RAISE(format::PartitionRows stored, LoadRowIds(partition));
  ARROW_RETURN_NOT_OK(LoadCodes(partition, &stored));
  return stored;
}

arrow::Result<std::vector<format::PartitionRows>> IvfSegment::LoadRun(int64_t first,
                                                                      int64_t count) const {
  std::vector<format::PartitionRows> run(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    ARROW_ASSIGN_OR_RAISE(run[i], Load(first + i));
  }
  return run;
}

arrow::Result<format::PartitionGraph> IvfSegment::LoadGraph(int64_t partition) const {
  return base::Internal("Graph ", partition, " asked of a segment without graphs");
}

std::unique_ptr<NodeScorer> IvfSegment::MakeScorer(int64_t partition, const double* query,
                                                   const format::PartitionRows& stored) const {
  return std::make_unique<CanonicalScorer>(*this, partition, query, stored);
}

arrow::Result<std::shared_ptr<IvfSegment>> IvfSegment::Make(
    std::shared_ptr<format::IndexFiles> files) {
  const format::IvfModel& ivf = files->ivf();
  const std::optional<kernels::Metric> metric = kernels::ParseMetric(ivf.distance_type);
  if (!metric.has_value()) {
    return base::NotSupported("The index has the unknown metric `", ivf.distance_type,
                              "`; l2, cosine, dot and hamming are searched");
  }
  const format::ElementType type = ivf.centroids.type;
  const bool bits = *metric == kernels::Metric::kHamming;
  const bool bytes = type == format::ElementType::kUint8;
  if (bits != bytes || (bits && ivf.kind.quantizer != format::QuantizerKind::kFlat)) {
    return base::NotSupported("The index is of type ", ivf.index_type, " over ",
                              format::ElementTypeName(type), " with metric ", ivf.distance_type,
                              "; uint8 is searched by hamming in IVF_FLAT and IVF_HNSW_FLAT only, "
                              "other metrics on the exact path (index=never)");
  }
  if (bits) return MakeHammingSegment(std::move(files));
  if (type == format::ElementType::kFloat64) return MakeSegment<double>(std::move(files), *metric);
  return MakeSegment<float>(std::move(files), *metric);
}

}  // namespace kinjo::index
