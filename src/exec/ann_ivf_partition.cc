#include "exec/ann_ivf_partition.h"

#include <algorithm>
#include <cstddef>

namespace kinjo::exec {

namespace {

constexpr int64_t kQueriesPerItem = 128;

// Makes room for so many elements in the fields that `part` has.
void Grow(size_t values, const index::QueryBlock& part, index::QueryBlock* all) {
  if (!part.values.empty()) all->values.resize(values);
  if (!part.coded.empty()) all->coded.resize(values);
  if (!part.bytes.empty()) all->bytes.resize(values);
}

void CopyTo(index::QueryBlock* all, size_t first_value, const index::QueryBlock& part) {
  const auto copy = [&](const auto& from, auto* to) {
    if (from.empty()) return;  // so is `to`
    std::copy(from.begin(), from.end(), to->begin() + static_cast<std::ptrdiff_t>(first_value));
  };
  copy(part.values, &all->values);
  copy(part.coded, &all->coded);
  copy(part.bytes, &all->bytes);
}

// A block of wide queries is many times its bytes.
void KeepBytesOnly(index::QueryBlock* block) {
  block->values.clear();
  block->coded.clear();
}

}  // namespace

arrow::Status AnnIvfPartition::PrepareAndRank(std::span<const double> vectors, int64_t depth,
                                              const ProbeLimits& limits) {
  const bool any_order = limits.any_order && limits.nprobes.has_value();
  // With fixed probes nothing is ranked again.
  const bool bytes_only =
      limits.nprobes.has_value() && segment_->scans_bytes() && !segment_->has_graph();
  const auto slice = static_cast<size_t>(kQueriesPerItem * segment_->dim());
  index::QueryBlock head = segment_->PrepareQueries(vectors.first(std::min(slice, vectors.size())));
  queries_ = {.num_queries = static_cast<int64_t>(vectors.size()) / segment_->dim(),
              .dim = segment_->dim()};
  ranked_.clear();
  ranked_.resize(static_cast<size_t>(queries_.num_queries));
  RankSlice(head, 0, depth, any_order);
  if (bytes_only) KeepBytesOnly(&head);
  if (vectors.size() <= slice) {
    queries_ = std::move(head);
    return arrow::Status::OK();
  }
  Grow(vectors.size(), head, &queries_);
  CopyTo(&queries_, 0, head);
  const auto items = static_cast<int64_t>((vectors.size() - 1) / slice);
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const size_t begin = static_cast<size_t>(item + 1) * slice;
    const size_t count = std::min(slice, vectors.size() - begin);
    index::QueryBlock part = segment_->PrepareQueries(vectors.subspan(begin, count));
    RankSlice(part, (item + 1) * kQueriesPerItem, depth, any_order);
    if (bytes_only) KeepBytesOnly(&part);
    CopyTo(&queries_, begin, part);
    return arrow::Status::OK();
  });
}

void AnnIvfPartition::RankSlice(const index::QueryBlock& slice, int64_t first, int64_t depth,
                                bool any_order) {
  std::vector<std::vector<index::RankedPartition>> part;
  if (any_order) {
    segment_->PickPartitions(slice, 0, slice.num_queries, depth, &part);
  } else {
    segment_->RankPartitions(slice, 0, slice.num_queries, depth, &part);
  }
  std::move(part.begin(), part.end(), ranked_.begin() + first);
}

arrow::Status AnnIvfPartition::Rank(
    const index::QueryBlock& queries, int64_t depth,
    std::vector<std::vector<index::RankedPartition>>* ranked) const {
  ranked->clear();
  ranked->resize(static_cast<size_t>(queries.num_queries));
  const int64_t items = (queries.num_queries + kQueriesPerItem - 1) / kQueriesPerItem;
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t begin = item * kQueriesPerItem;
    const int64_t end = std::min(queries.num_queries, begin + kQueriesPerItem);
    std::vector<std::vector<index::RankedPartition>> part;
    segment_->RankPartitions(queries, begin, end, depth, &part);
    std::move(part.begin(), part.end(), ranked->begin() + begin);
    return arrow::Status::OK();
  });
}

// Rises with `adaptive`.
int64_t AnnIvfPartition::FirstRoundOf(const ProbeLimits& limits, int64_t adaptive) const {
  return index::EffortProbeCount(limits.effort.value_or(0.5), adaptive, limits.minimum, limit_);
}

void AnnIvfPartition::CountFirstRound(int64_t k, const ProbeLimits& limits) {
  std::vector<float> distances;
  for (size_t i = 0; i < ranked_.size(); ++i) {
    int64_t count = limit_;
    if (!limits.nprobes.has_value()) {
      distances.clear();
      for (const index::RankedPartition& ranked : ranked_[i]) distances.push_back(ranked.distance);
      count = FirstRoundOf(limits, index::AdaptiveProbeCount(segment_->metric(), k, distances));
    }
    first_round_[i] = std::min(count, static_cast<int64_t>(ranked_[i].size()));
    first_round_max_ = std::max(first_round_max_, first_round_[i]);
  }
}

arrow::Status AnnIvfPartition::Start(std::span<const double> vectors, int64_t k,
                                     const ProbeLimits& limits) {
  const int64_t partitions = segment_->num_partitions();
  limit_ = std::min(partitions, limits.nprobes.value_or(limits.maximum.value_or(partitions)));
  int64_t depth = limit_;
  if (!limits.nprobes.has_value()) {
    // The adaptive rule itself looks at as many ranks as it may take.
    const int64_t cap = index::AdaptiveProbeCap(segment_->metric(), k);
    depth = std::min(limit_, std::max(cap, FirstRoundOf(limits, cap)));
  }
  ARROW_RETURN_NOT_OK(PrepareAndRank(vectors, depth, limits));
  first_round_.assign(static_cast<size_t>(queries_.num_queries), 0);
  first_round_max_ = 0;
  CountFirstRound(k, limits);
  visited_ = first_round_;
  return arrow::Status::OK();
}

void AnnIvfPartition::FirstRound(int64_t first_rank, int64_t last_rank,
                                 std::vector<Probe>* probes) const {
  for (size_t i = 0; i < ranked_.size(); ++i) {
    const int64_t last = std::min(last_rank, first_round_[i]);
    for (int64_t rank = first_rank; rank < last; ++rank) {
      probes->push_back({static_cast<uint32_t>(i), ranked_[i][rank].partition});
    }
  }
}

arrow::Status AnnIvfPartition::RankDeeper(const std::vector<uint32_t>& queries) {
  index::QueryBlock block;
  block.dim = queries_.dim;
  std::vector<uint32_t> wanted;
  int64_t depth = 0;
  for (const uint32_t query : queries) {
    if (!has_next(query) || visited_[query] < static_cast<int64_t>(ranked_[query].size())) continue;
    wanted.push_back(query);
    depth = std::max(depth, 4 * visited_[query]);
    block.values.insert(block.values.end(), queries_.ranked_query(query),
                        queries_.ranked_query(query) + queries_.dim);
  }
  if (wanted.empty()) return arrow::Status::OK();
  block.num_queries = static_cast<int64_t>(wanted.size());
  std::vector<std::vector<index::RankedPartition>> ranked;
  ARROW_RETURN_NOT_OK(Rank(block, std::min(limit_, std::max<int64_t>(depth, 16)), &ranked));
  for (size_t i = 0; i < wanted.size(); ++i) ranked_[wanted[i]] = std::move(ranked[i]);
  return arrow::Status::OK();
}

arrow::Status AnnIvfPartition::NextRound(const std::vector<uint32_t>& queries,
                                         std::vector<Probe>* probes) {
  ARROW_RETURN_NOT_OK(RankDeeper(queries));
  for (const uint32_t query : queries) {
    if (!has_next(query)) continue;
    if (visited_[query] >= static_cast<int64_t>(ranked_[query].size())) {
      visited_[query] = limit_;  // the segment has no more to rank
      continue;
    }
    probes->push_back({query, ranked_[query][visited_[query]].partition});
    ++visited_[query];
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::exec
