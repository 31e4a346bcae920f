// ANNIvfPartition: ranks the partitions of one index segment for every query of a block, and hands
// them out, nearest first: the first round, then one more a round to the queries that ask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "index/ivf_segment.h"

namespace kinjo::exec {

/// How many partitions a query visits in each segment.
struct ProbeLimits {
  std::optional<int64_t> nprobes;  ///< exactly so many, no late search
  int64_t minimum = 1;             ///< of the first round
  std::optional<int64_t> maximum;  ///< in all
  std::optional<double> effort;    ///< moves the first round (index::EffortProbeCount)
  /// With nprobes: only the nearest partition has to come first (IvfSegment::PickPartitions).
  bool any_order = false;
};

/// A query visits a partition.
struct Probe {
  uint32_t query;
  uint32_t partition;
};

/// One segment and one query block. Not thread-safe; spreads its own work.
class AnnIvfPartition {
 public:
  AnnIvfPartition(std::shared_ptr<index::IvfSegment> segment, base::ThreadPool* pool,
                  base::CancelToken cancel)
      : segment_(std::move(segment)), pool_(pool), cancel_(std::move(cancel)) {}

  /// Ranks the first round of the queries [num][dim] for `k` rows each.
  arrow::Status Start(std::span<const double> vectors, int64_t k, const ProbeLimits& limits);

  const index::IvfSegment& segment() const { return *segment_; }
  /// The queries as the segment wants them; only their bytes where that is all a search reads.
  const index::QueryBlock& queries() const { return queries_; }

  /// Appends the probes of the first round, of `ranks` [first, last) of each query only.
  void FirstRound(int64_t first_rank, int64_t last_rank, std::vector<Probe>* probes) const;
  /// Partitions of the longest first round.
  int64_t first_round_max() const { return first_round_max_; }

  /// The partitions handed out for `query` so far, nearest first.
  std::span<const index::RankedPartition> visited(uint32_t query) const {
    return std::span(ranked_[query])
        .first(static_cast<size_t>(
            std::min<int64_t>(visited_[query], static_cast<int64_t>(ranked_[query].size()))));
  }
  /// True while `query` may visit another partition.
  bool has_next(uint32_t query) const { return visited_[query] < limit_; }
  /// Appends the next partition of each of the queries (those that have one).
  arrow::Status NextRound(const std::vector<uint32_t>& queries, std::vector<Probe>* probes);

 private:
  /// Prepares and ranks the queries slice by slice, while each slice is in the cache.
  arrow::Status PrepareAndRank(std::span<const double> vectors, int64_t depth,
                               const ProbeLimits& limits);
  /// Ranks a slice into the entries from `first` on.
  void RankSlice(const index::QueryBlock& slice, int64_t first, int64_t depth, bool any_order);
  arrow::Status Rank(const index::QueryBlock& queries, int64_t depth,
                     std::vector<std::vector<index::RankedPartition>>* ranked) const;
  int64_t FirstRoundOf(const ProbeLimits& limits, int64_t adaptive) const;
  void CountFirstRound(int64_t k, const ProbeLimits& limits);
  arrow::Status RankDeeper(const std::vector<uint32_t>& queries);

  std::shared_ptr<index::IvfSegment> segment_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  index::QueryBlock queries_;
  int64_t limit_ = 0;  // partitions that a query may visit in all
  int64_t first_round_max_ = 0;
  std::vector<std::vector<index::RankedPartition>> ranked_;  // of each query, as deep as was needed
  std::vector<int64_t> first_round_;
  std::vector<int64_t> visited_;
};

}  // namespace kinjo::exec
