#include "exec/block_filter.h"

#include <algorithm>

#include "exec/threshold_seed.h"

namespace kinjo::exec {

namespace {

// Chunks of rows between two looks at the thresholds, in groups; multiples of 3, as the kernel
// likes them. A query that holds fewer than k rows lets everything through, so the first chunk is
// short and each next one twice as long; heaps that are full already start at the full length.
constexpr int64_t kFirstChunkGroups = 3;
constexpr int64_t kChunkBytes = int64_t{1} << 19;
// Survivors that are scored together.
constexpr int64_t kScoredTogether = 1024;
// Heaps that are fetched ahead of their turn.
constexpr size_t kPushesAhead = 16;

// The longest chunk that half of a core's second cache holds, as bytes or as floats.
int64_t LongestChunk(int64_t num_queries, int64_t dim, bool codes) {
  const int64_t row_bytes = codes ? dim : dim * static_cast<int64_t>(sizeof(float));
  const int64_t rows = std::min(kChunkBytes / row_bytes, kChunkPairsMax / num_queries);
  return std::max(rows / kernels::kGroupRows / 3 * 3, kFirstChunkGroups);
}

float FilterBound(kernels::Metric metric, float threshold, double query_norm2, int64_t dim) {
  switch (metric) {
    case kernels::Metric::kDot:
      return kernels::DotBound(threshold, query_norm2, dim);
    case kernels::Metric::kCosine:
      return kernels::CosineBound(threshold, query_norm2, dim);
    default:
      return kernels::L2Bound(threshold, query_norm2, dim);
  }
}

/// Sets the bounds from the thresholds; true while some query lets everything through.
bool SetBounds(kernels::Metric metric, const QueryTile& tile, int64_t dim,
               const NeighborHeaps& heaps, std::vector<float>* bounds) {
  bool filling = false;
  bounds->resize(static_cast<size_t>(tile.num_queries));
  for (int64_t i = 0; i < tile.num_queries; ++i) {
    const float threshold = heaps.threshold(tile.query_ids[i]);
    (*bounds)[i] = FilterBound(metric, threshold, tile.norms2[i], dim);
    filling |= heaps.filling(tile.query_ids[i]);
  }
  return filling;
}

/// Leaves the hits on rows of the range; returns their number.
int64_t DropForeign(const RowRange& range, kernels::Hit* hits, int64_t found) {
  const auto* end = std::remove_if(hits, hits + found,
                                   [&](const kernels::Hit& hit) { return !range.holds(hit.row); });
  return end - hits;
}

void PushSurvivors(std::span<const kernels::Hit> hits, const QueryTile& tile, const RowRange& range,
                   const SurvivorScorer& scorer, NeighborHeaps* heaps, FilterScratch* scratch) {
  scratch->distances.resize(kScoredTogether);
  while (!hits.empty()) {
    const auto some = hits.first(std::min<size_t>(hits.size(), kScoredTogether));
    scorer.Score(some, tile.query_ids, scratch->distances.data());
    for (size_t i = 0; i < some.size(); ++i) {
      const size_t later = std::min(i + kPushesAhead, some.size() - 1);
      heaps->Prefetch(tile.query_ids[some[later].query]);
      heaps->Push(tile.query_ids[some[i].query],
                  {scratch->distances[i], range.addresses[some[i].row]});
    }
    hits = hits.subspan(some.size());
  }
}

}  // namespace

int64_t FilterTile(kernels::Metric metric, const QueryTile& tile, const RowRange& range,
                   const SurvivorScorer& scorer, NeighborHeaps* heaps, FilterScratch* scratch) {
  const int64_t dim = range.rows->dim();
  const int64_t longest = LongestChunk(tile.num_queries, dim, range.rows->codes().codes != nullptr);
  const bool cuts_groups =
      range.first_slot > range.first_group * kernels::kGroupRows ||
      range.last_slot < std::min(range.rows->num_rows(),
                                 (range.first_group + range.num_groups) * kernels::kGroupRows);
  int64_t survivors = 0;
  // The rows that gave the first bound make the first chunk.
  int64_t chunk = SeedThresholds(metric, tile, range, heaps, scratch);
  for (int64_t done = 0; done < range.num_groups;) {
    const bool filling = SetBounds(metric, tile, dim, *heaps, &scratch->bounds);
    if (chunk == 0) chunk = filling ? kFirstChunkGroups : longest;
    const int64_t groups = std::min({chunk, longest, range.num_groups - done});
    const int64_t room = tile.num_queries * groups * kernels::kGroupRows;
    if (scratch->hits_room < room) {
      scratch->hits = std::make_unique_for_overwrite<kernels::Hit[]>(static_cast<size_t>(room));
      scratch->hits_room = room;
    }
    const kernels::BlockScan scan{.rows = range.rows->rows(),
                                  .init = range.rows->init(),
                                  .dim = dim,
                                  .first_group = range.first_group + done,
                                  .num_groups = groups,
                                  .queries = tile.moved,
                                  .bounds = scratch->bounds.data(),
                                  .num_queries = tile.num_queries,
                                  .codes = range.rows->codes()};
    int64_t found = kernels::ScanBlock(scan, scratch->hits.get());
    if (cuts_groups) found = DropForeign(range, scratch->hits.get(), found);
    PushSurvivors({scratch->hits.get(), static_cast<size_t>(found)}, tile, range, scorer, heaps,
                  scratch);
    survivors += found;
    done += groups;
    chunk = std::min(2 * chunk, longest);
  }
  return survivors;
}

}  // namespace kinjo::exec
