#include "exec/knn_vector_distance.h"

#include <algorithm>

#include "kernels/canonical_distance.h"

namespace kinjo::exec {

namespace {

constexpr int64_t kQueriesPerMove = 256;

/// Scores survivors on the true vectors.
class ExactScorer final : public SurvivorScorer {
 public:
  ExactScorer(const RowBlock& block, const QueryRows& queries) : block_(block), queries_(queries) {}

  void Score(std::span<const kernels::Hit> hits, const uint32_t* query_ids,
             float* distances) const override {
    constexpr size_t kPairs = 256;
    ScorePair pairs[kPairs];
    for (size_t done = 0; done < hits.size();) {
      const size_t count = std::min(kPairs, hits.size() - done);
      for (size_t i = 0; i < count; ++i) {
        const kernels::Hit hit = hits[done + i];
        pairs[i] = {query_ids[hit.query], block_.row_of(hit.row)};
      }
      block_.exact().Score(queries_, {pairs, count}, distances + done);
      done += count;
    }
  }

 private:
  const RowBlock& block_;
  const QueryRows& queries_;
};

/// Counts the slots [first_slot, last_slot) as met by the queries [first_query, last_query).
void CountMet(int64_t first_query, int64_t last_query, int64_t first_slot, int64_t last_slot,
              std::span<const ExcludedRow> excluded, NeighborHeaps* heaps) {
  for (int64_t q = first_query; q < last_query; ++q) {
    int64_t met = last_slot - first_slot;
    if (!excluded.empty()) {
      for (const ExcludedRow& row : heaps->eligibility()->ExcludedFor(q, excluded)) {
        met -= first_slot <= row.position && row.position < last_slot;
      }
    }
    heaps->CountMet(q, met);
  }
}

}  // namespace

arrow::Status KnnVectorDistance::SetQueries(const FilterSpace* space, const QueryRows* queries) {
  space_ = space;
  queries_ = queries;
  moved_.Reset(queries->num_queries, space->metric == kernels::Metric::kHamming ? 0 : space->dim);
  if (space->metric == kernels::Metric::kHamming) return arrow::Status::OK();
  const int64_t items = (queries->num_queries + kQueriesPerMove - 1) / kQueriesPerMove;
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t end = std::min(queries->num_queries, (item + 1) * kQueriesPerMove);
    for (int64_t i = item * kQueriesPerMove; i < end; ++i) moved_.Move(*space, *queries, i);
    return arrow::Status::OK();
  });
}

void KnnVectorDistance::Cut(const Area& area, std::vector<Item>* items) const {
  constexpr int64_t kGroup = kernels::kGroupRows;
  const int64_t first_group = area.first_slot / kGroup;
  const int64_t num_groups = (area.last_slot + kGroup - 1) / kGroup - first_group;
  const int64_t tiles = (area.last_query - area.first_query + kTileQueries - 1) / kTileQueries;
  // Enough items for every thread, also when there are few queries.
  const int64_t wanted = 4 * static_cast<int64_t>(pool_->size());
  const int64_t ranges = std::clamp<int64_t>((wanted + tiles - 1) / std::max<int64_t>(tiles, 1), 1,
                                             std::max<int64_t>(num_groups / 8, 1));
  const int64_t groups = (num_groups + ranges - 1) / ranges;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t first = area.first_query + tile * kTileQueries;
    const int64_t count = std::min(kTileQueries, area.last_query - first);
    for (int64_t group = 0; group < num_groups; group += groups) {
      const int64_t slot = (first_group + group) * kGroup;
      items->push_back({first, count, std::max(slot, area.first_slot),
                        std::min(slot + groups * kGroup, area.last_slot)});
    }
  }
}

std::vector<KnnVectorDistance::Item> KnnVectorDistance::CutAll(const RowBlock& block,
                                                               const NeighborHeaps& heaps) const {
  std::vector<Item> items;
  if (heaps.groups() == nullptr) {
    Cut({0, queries_->num_queries, 0, block.num_rows()}, &items);
    return items;
  }
  heaps.eligibility()->ForEachGroup(0, queries_->num_queries,
                                    [&](uint32_t group, int64_t first, int64_t last) {
                                      const auto [first_slot, last_slot] = block.slots_of(group);
                                      if (first_slot < last_slot)
                                        Cut({first, last, first_slot, last_slot}, &items);
                                    });
  return items;
}

std::vector<ExcludedRow> KnnVectorDistance::FindExcluded(const RowBlock& block,
                                                         const NeighborHeaps& heaps) {
  if (heaps.eligibility() == nullptr) return {};
  return heaps.eligibility()->FindExcluded(block.addresses());
}

void KnnVectorDistance::ScoreHamming(const RowBlock& block, const Item& item,
                                     NeighborHeaps* heaps) {
  for (int64_t slot = item.first_slot; slot < item.last_slot; ++slot) {
    const uint8_t* row = block.exact().bytes_row(block.row_of(slot));
    for (int64_t q = item.first_query; q < item.first_query + item.num_queries; ++q) {
      const auto distance = static_cast<float>(
          kernels::HammingDistance(queries_->query_bytes(q), row, queries_->dim));
      if (distance <= heaps->threshold(q)) heaps->Push(q, {distance, block.addresses()[slot]});
    }
  }
  comparisons_.fetch_add((item.last_slot - item.first_slot) * item.num_queries,
                         std::memory_order_relaxed);
}

void KnnVectorDistance::ScoreItem(const RowBlock& block, const Item& item,
                                  std::span<const ExcludedRow> excluded, int worker,
                                  NeighborHeaps* heaps) {
  tiles_.fetch_add(1, std::memory_order_relaxed);
  CountMet(item.first_query, item.first_query + item.num_queries, item.first_slot, item.last_slot,
           excluded, heaps);
  if (space_->metric == kernels::Metric::kHamming) return ScoreHamming(block, item, heaps);
  const QueryTile tile{.num_queries = item.num_queries,
                       .moved = moved_.values.data() + item.first_query * space_->dim,
                       .norms2 = moved_.norms2.data() + item.first_query,
                       .query_ids = moved_.ids.data() + item.first_query};
  constexpr int64_t kGroup = kernels::kGroupRows;
  const int64_t first_group = item.first_slot / kGroup;
  const RowRange range{.rows = &block.grouped(),
                       .addresses = block.addresses().data(),
                       .first_group = first_group,
                       .num_groups = (item.last_slot + kGroup - 1) / kGroup - first_group,
                       .first_slot = item.first_slot,
                       .last_slot = item.last_slot};
  const ExactScorer scorer(block, *queries_);
  const int64_t survivors =
      FilterTile(space_->metric, tile, range, scorer, heaps, &scratch_[worker]);
  comparisons_.fetch_add(survivors, std::memory_order_relaxed);
}

arrow::Status KnnVectorDistance::Score(const RowBlock& block, NeighborHeaps* heaps,
                                       const std::function<arrow::Status()>& beside) {
  const std::vector<Item> items = CutAll(block, *heaps);
  const std::vector<ExcludedRow> excluded = FindExcluded(block, *heaps);
  const int64_t extra = beside ? 1 : 0;
  return pool_->ParallelFor(static_cast<int64_t>(items.size()) + extra, cancel_,
                            [&](int64_t i, int worker) {
                              if (i < extra) return beside();
                              ScoreItem(block, items[i - extra], excluded, worker, heaps);
                              return arrow::Status::OK();
                            });
}

arrow::Status KnnVectorDistance::ScoreAlone(const RowBlock& block, int worker,
                                            NeighborHeaps* heaps) {
  const std::vector<ExcludedRow> excluded = FindExcluded(block, *heaps);
  const auto score = [&](int64_t first, int64_t last, int64_t first_slot, int64_t last_slot) {
    for (; first < last; first += kTileQueries) {
      ARROW_RETURN_NOT_OK(cancel_.Check());
      const Item item{first, std::min(kTileQueries, last - first), first_slot, last_slot};
      ScoreItem(block, item, excluded, worker, heaps);
    }
    return arrow::Status::OK();
  };
  const int64_t num_queries = queries_->num_queries;
  if (heaps->groups() == nullptr) return score(0, num_queries, 0, block.num_rows());
  arrow::Status status;
  heaps->eligibility()->ForEachGroup(0, num_queries,
                                     [&](uint32_t group, int64_t first, int64_t last) {
                                       const auto [first_slot, last_slot] = block.slots_of(group);
                                       if (status.ok() && first_slot < last_slot) {
                                         status = score(first, last, first_slot, last_slot);
                                       }
                                     });
  return status;
}

arrow::Status KnnVectorDistance::ScorePairs(const RowBlock& block, NeighborHeaps* heaps) {
  constexpr int64_t kPairs = 256;
  ScorePair pairs[kPairs];
  float distances[kPairs];
  const std::vector<ExcludedRow> excluded = FindExcluded(block, *heaps);
  CountMet(0, queries_->num_queries, 0, block.num_rows(), excluded, heaps);
  for (int64_t first = 0; first < block.num_rows(); first += kPairs) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    tiles_.fetch_add(1, std::memory_order_relaxed);
    const int64_t count = std::min(kPairs, block.num_rows() - first);
    for (uint32_t q = 0; q < queries_->num_queries; ++q) {
      for (int64_t i = 0; i < count; ++i) pairs[i] = {q, block.row_of(first + i)};
      block.exact().Score(*queries_, {pairs, static_cast<size_t>(count)}, distances);
      for (int64_t i = 0; i < count; ++i) {
        if (distances[i] > heaps->threshold(q)) continue;
        heaps->Push(q, {distances[i], block.addresses()[first + i]});
      }
    }
  }
  comparisons_.fetch_add(block.num_rows() * queries_->num_queries, std::memory_order_relaxed);
  return arrow::Status::OK();
}

}  // namespace kinjo::exec
