// The coarse model: centroids, and which of them are nearest to a query. The block kernel scores
// all of them, a few are picked with room for its error, and the canonical distance orders those.
#pragma once

#include <cstdint>
#include <vector>

#include "index/ivf_segment.h"
#include "index/smallest_scores.h"
#include "kernels/block_scan.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// How many partitions are asked for, and whether their order and distances matter.
struct RankDepth {
  int64_t limit = 0;
  bool any_order = false;
};

/// T is float for float16 and float32 indexes, double for float64. Immutable and thread-safe.
template <typename T>
class PartitionRanker {
 public:
  /// `centroids` is [num_partitions][dim]. A centroid that isn't finite ranks last, at +inf.
  PartitionRanker(std::vector<T> centroids, int64_t dim, kernels::Metric metric);

  const T* centroid(int64_t partition) const { return centroids_.data() + partition * dim_; }
  bool is_finite(int64_t partition) const { return finite_[partition]; }
  int64_t num_partitions() const { return num_partitions_; }

  /// IvfSegment::RankPartitions or, in any order, PickPartitions.
  void Rank(const QueryBlock& queries, int64_t begin, int64_t end, RankDepth depth,
            std::vector<std::vector<RankedPartition>>* out) const;

 private:
  struct Scratch;

  void RankTile(const QueryBlock& queries, int64_t begin, int64_t count, RankDepth depth,
                Scratch* scratch, std::vector<RankedPartition>* out) const;
  void PickCandidates(const float* scores, double query_norm2, int64_t limit,
                      Scratch* scratch) const;
  /// Takes the nearest of the candidates by their scores alone; false where those are too close.
  static bool TakeByScores(const float* scores, int64_t limit, Scratch* scratch,
                           std::vector<RankedPartition>* out);
  void Order(const double* query, int64_t limit, Scratch* scratch,
             std::vector<RankedPartition>* out) const;
  float Distance(const double* query, int64_t partition) const;

  const std::vector<T> centroids_;
  const int64_t dim_;
  const int64_t num_partitions_;
  const bool dot_;
  std::vector<bool> finite_;
  std::vector<T> centre_;      // mean centroid (l2, cosine): magnitudes are small around it
  kernels::GroupedRows rows_;  // centroids moved by centre_
  double max_norm2_ = 0;       // of the moved centroids
};

}  // namespace kinjo::index
