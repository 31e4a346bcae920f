#include "index/partition_ranker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "index/distance_key.h"
#include "index/elements.h"
#include "index/quantizer.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

// Queries scored at a time: a multiple of what the kernel likes, and their scores stay in cache.
constexpr int64_t kTileQueries = 48;

// Squared norms above this might overflow a float32 score: the kernel's scores say nothing then.
constexpr double kScorableNorm2 = 1e30;
// What a step of a sum may lose below the range of float32, and more.
constexpr double kUnderflow = 0x1p-120;

}  // namespace

template <typename T>
struct PartitionRanker<T>::Scratch {
  std::vector<float> moved;    // [kTileQueries][dim]
  std::vector<double> norms2;  // [kTileQueries]
  std::vector<float> scores;   // [kTileQueries][stride]
  PickScratch pick;
  std::vector<uint32_t> candidates;
  float slack = 0;               // two scores closer than this may stand in either order
  std::vector<float> of_picked;  // scores of the candidates
  std::vector<uint64_t> keys;    // (ordered distance, partition)
};

template <typename T>
PartitionRanker<T>::PartitionRanker(std::vector<T> centroids, int64_t dim, kernels::Metric metric)
    : centroids_(std::move(centroids)),
      dim_(dim),
      num_partitions_(static_cast<int64_t>(centroids_.size()) / dim),
      dot_(metric == kernels::Metric::kDot) {
  finite_.resize(static_cast<size_t>(num_partitions_));
  std::vector<double> sum(static_cast<size_t>(dim), 0.0);
  int64_t num_finite = 0;
  for (int64_t p = 0; p < num_partitions_; ++p) {
    finite_[p] = AllFinite(centroid(p), dim);
    if (!finite_[p]) continue;
    ++num_finite;
    for (int64_t j = 0; j < dim; ++j) sum[j] += centroid(p)[j];
  }
  if (!dot_) {
    centre_.resize(static_cast<size_t>(dim), T{0});
    for (int64_t j = 0; j < dim; ++j) {
      const T mean = static_cast<T>(sum[j] / static_cast<double>(std::max<int64_t>(num_finite, 1)));
      if (std::isfinite(mean)) centre_[j] = mean;
    }
  }
  rows_.Reset(num_partitions_, dim);
  const std::vector<T> zero(static_cast<size_t>(dim), T{0});
  std::vector<float> moved(static_cast<size_t>(dim));
  for (int64_t p = 0; p < num_partitions_; ++p) {
    if (!finite_[p]) {
      rows_.SetRow(p, zero.data(), static_cast<const T*>(nullptr), dot_);
      rows_.mutable_init()[p] = std::numeric_limits<float>::infinity();
      continue;
    }
    rows_.SetRow(p, centroid(p), dot_ ? nullptr : centre_.data(), dot_);
    rows_.GetRow(p, moved.data());
    double norm2 = 0;
    for (const float value : moved) norm2 += static_cast<double>(value) * value;
    max_norm2_ = std::max(max_norm2_, norm2);
  }
}

template <typename T>
float PartitionRanker<T>::Distance(const double* query, int64_t partition) const {
  if (!finite_[partition]) return std::numeric_limits<float>::infinity();
  if (dot_) return static_cast<float>(1 - kernels::CanonicalDot(query, centroid(partition), dim_));
  return static_cast<float>(kernels::CanonicalL2(query, centroid(partition), dim_));
}

// Leaves in scratch->candidates every partition that may be among the `limit` nearest.
template <typename T>
void PartitionRanker<T>::PickCandidates(const float* scores, double query_norm2, int64_t limit,
                                        Scratch* scratch) const {
  const bool scorable = query_norm2 < kScorableNorm2 && max_norm2_ < kScorableNorm2;
  if (limit == num_partitions_ || !scorable) {
    scratch->candidates.resize(static_cast<size_t>(num_partitions_));
    for (int64_t p = 0; p < num_partitions_; ++p) {
      scratch->candidates[p] = static_cast<uint32_t>(p);
    }
    return;
  }
  // A true score lies in [s - E |q|^2, s + E (|q|^2 + 2 max |c|^2)], so one that is among the
  // nearest is at most twice that apart from the cut. Distances are compared as floats: a rounding
  // of theirs is relative to the norms too (for dot also to 1), a few units of which cover it.
  const double error = kernels::ErrorFactor(dim_) + 8 * std::numeric_limits<float>::epsilon();
  const double slack = 2 * error * (query_norm2 + max_norm2_) + (dot_ ? error : 0) +
                       kUnderflow * static_cast<double>(dim_ + 8);
  scratch->slack = static_cast<float>(slack);
  PickSmallest(scores, num_partitions_, limit, scratch->slack, &scratch->pick,
               &scratch->candidates);
}

template <typename T>
bool PartitionRanker<T>::TakeByScores(const float* scores, int64_t limit, Scratch* scratch,
                                      std::vector<RankedPartition>* out) {
  const std::vector<uint32_t>& candidates = scratch->candidates;
  scratch->of_picked.clear();
  for (const uint32_t partition : candidates) scratch->of_picked.push_back(scores[partition]);
  const auto count = static_cast<int64_t>(candidates.size());
  float cut = 0;
  if (!FindGap(scratch->of_picked.data(), count, limit, scratch->slack, &cut)) return false;
  out->clear();
  out->reserve(static_cast<size_t>(limit));
  size_t nearest = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const float score = scratch->of_picked[i];
    if (score > cut) continue;
    if (score < scores[candidates[nearest]] || out->empty()) nearest = i;
    out->push_back({candidates[i], 0});
    if (nearest == i) std::swap(out->front(), out->back());
  }
  return true;
}

template <typename T>
void PartitionRanker<T>::Order(const double* query, int64_t limit, Scratch* scratch,
                               std::vector<RankedPartition>* out) const {
  scratch->keys.clear();
  for (const uint32_t partition : scratch->candidates) {
    scratch->keys.push_back(DistanceKey(Distance(query, partition), partition));
  }
  std::sort(scratch->keys.begin(), scratch->keys.end());
  out->resize(static_cast<size_t>(limit));
  for (int64_t i = 0; i < limit; ++i) {
    (*out)[i] = {IdOf(scratch->keys[i]), DistanceOf(scratch->keys[i])};
  }
}

template <typename T>
void PartitionRanker<T>::RankTile(const QueryBlock& queries, int64_t begin, int64_t count,
                                  RankDepth depth, Scratch* scratch,
                                  std::vector<RankedPartition>* out) const {
  const int64_t limit = depth.limit;
  const int64_t stride = rows_.num_groups() * kernels::kGroupRows;
  if (limit < num_partitions_) {
    for (int64_t i = 0; i < count; ++i) {
      scratch->norms2[i] =
          kernels::MoveQuery(queries.ranked_query(begin + i), dot_ ? nullptr : centre_.data(), dim_,
                             scratch->moved.data() + i * dim_);
    }
    kernels::ScoreBlock({.rows = rows_.rows(),
                         .init = rows_.init(),
                         .dim = dim_,
                         .first_group = 0,
                         .num_groups = rows_.num_groups(),
                         .queries = scratch->moved.data(),
                         .bounds = nullptr,
                         .num_queries = count},
                        scratch->scores.data(), stride);
  }
  for (int64_t i = 0; i < count; ++i) {
    // Where all are wanted nothing was scored.
    const float* scores = limit < num_partitions_ ? scratch->scores.data() + i * stride : nullptr;
    PickCandidates(scores, scratch->norms2[i], limit, scratch);
    const bool has_slack = static_cast<int64_t>(scratch->candidates.size()) < num_partitions_;
    if (depth.any_order && has_slack && TakeByScores(scores, limit, scratch, out + i)) continue;
    Order(queries.ranked_query(begin + i), limit, scratch, out + i);
  }
}

template <typename T>
void PartitionRanker<T>::Rank(const QueryBlock& queries, int64_t begin, int64_t end,
                              RankDepth depth,
                              std::vector<std::vector<RankedPartition>>* out) const {
  const int64_t count = end - begin;
  depth.limit = std::clamp<int64_t>(depth.limit, 0, num_partitions_);
  const int64_t limit = depth.limit;
  out->resize(static_cast<size_t>(count));
  if (limit == 0) {
    for (auto& ranked : *out) ranked.clear();
    return;
  }
  const int64_t tile = std::min(count, kTileQueries);
  const int64_t stride = rows_.num_groups() * kernels::kGroupRows;
  Scratch scratch;
  scratch.norms2.resize(static_cast<size_t>(tile));
  if (limit < num_partitions_) {
    scratch.moved.resize(static_cast<size_t>(tile * dim_));
    scratch.scores.resize(static_cast<size_t>(tile * stride));
  }
  for (int64_t first = 0; first < count; first += tile) {
    RankTile(queries, begin + first, std::min(tile, count - first), depth, &scratch,
             out->data() + first);
  }
}

template class PartitionRanker<float>;
template class PartitionRanker<double>;

}  // namespace kinjo::index
