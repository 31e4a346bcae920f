#include "index/hamming_segment.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "index/distance_key.h"
#include "index/files_segment.h"
#include "index/quantizer.h"
#include "index/vector_scratch.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

/// Scores bytes where they lie.
class BitScorer final : public NodeScorer {
 public:
  BitScorer(const double* query, int64_t dim, const uint8_t* rows)
      : query_(query, query + dim), rows_(rows) {}

  void Score(std::span<const uint32_t> nodes, float* distances) const override {
    const auto dim = static_cast<int64_t>(query_.size());
    for (const uint32_t node : nodes) __builtin_prefetch(rows_ + node * dim);
    for (const uint32_t node : nodes) {
      *distances++ =
          static_cast<float>(kernels::HammingDistance(query_.data(), rows_ + node * dim, dim));
    }
  }

 private:
  const std::vector<uint8_t> query_;
  const uint8_t* const rows_;
};

class HammingSegment final : public FilesSegment {
 public:
  explicit HammingSegment(std::shared_ptr<format::IndexFiles> files)
      : FilesSegment(std::move(files)) {}

  kernels::Metric metric() const override { return kernels::Metric::kHamming; }
  bool is_exact() const override { return true; }

  QueryBlock PrepareQueries(std::span<const double> vectors) const override;
  void RankPartitions(const QueryBlock& queries, int64_t begin, int64_t end, int64_t limit,
                      std::vector<std::vector<RankedPartition>>* out) const override;

  void Decode(int64_t partition, const format::PartitionRows& stored,
              std::span<const uint64_t> addresses, uint64_t dead,
              DecodedPartition* out) const override;
  double MoveQuery(int64_t, const double*, const DecodedPartition&, float*) const override {
    return 0;  // nothing is moved
  }
  float Distance(int64_t partition, const double* query, const DecodedPartition& rows,
                 int64_t slot) const override;

  std::unique_ptr<NodeScorer> MakeScorer(int64_t, const double* query,
                                         const format::PartitionRows& stored) const override {
    return std::make_unique<BitScorer>(query, dim(), stored.codes->data());
  }
};

QueryBlock HammingSegment::PrepareQueries(std::span<const double> vectors) const {
  QueryBlock block;
  block.dim = dim();
  block.num_queries = static_cast<int64_t>(vectors.size()) / block.dim;
  block.values.assign(vectors.begin(), vectors.end());
  block.bytes.assign(vectors.begin(), vectors.end());
  return block;
}

void HammingSegment::RankPartitions(const QueryBlock& queries, int64_t begin, int64_t end,
                                    int64_t limit,
                                    std::vector<std::vector<RankedPartition>>* out) const {
  limit = std::clamp<int64_t>(limit, 0, num_partitions());
  out->resize(static_cast<size_t>(end - begin));
  const uint8_t* centroids = files().ivf().centroids.data->data();
  std::vector<uint64_t> keys(static_cast<size_t>(num_partitions()));
  VectorScratch<uint8_t> query(dim());
  for (int64_t i = begin; i < end; ++i) {
    std::copy_n(queries.ranked_query(i), dim(), query.data());
    for (int64_t p = 0; p < num_partitions(); ++p) {
      const int64_t bits = kernels::HammingDistance(query.data(), centroids + p * dim(), dim());
      keys[p] = DistanceKey(static_cast<float>(bits), static_cast<uint32_t>(p));
    }
    std::partial_sort(keys.begin(), keys.begin() + limit, keys.end());
    std::vector<RankedPartition>& ranked = (*out)[i - begin];
    ranked.clear();
    for (int64_t rank = 0; rank < limit; ++rank) {
      ranked.push_back({IdOf(keys[rank]), DistanceOf(keys[rank])});
    }
  }
}

void HammingSegment::Decode(int64_t, const format::PartitionRows& stored,
                            std::span<const uint64_t> addresses, uint64_t dead,
                            DecodedPartition* out) const {
  out->codes = stored.codes;
  out->num_stored = stored.num_rows;
  KeepLiveRows(addresses, dead, out);
}

float HammingSegment::Distance(int64_t, const double* query, const DecodedPartition& rows,
                               int64_t slot) const {
  VectorScratch<uint8_t> bytes(dim());
  std::copy_n(query, dim(), bytes.data());
  const uint8_t* row = rows.codes->data() + rows.storage_position[slot] * dim();
  return static_cast<float>(kernels::HammingDistance(bytes.data(), row, dim()));
}

}  // namespace

std::shared_ptr<IvfSegment> MakeHammingSegment(std::shared_ptr<format::IndexFiles> files) {
  return std::make_shared<HammingSegment>(std::move(files));
}

}  // namespace kinjo::index
