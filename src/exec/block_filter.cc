#include "exec/block_filter.h"

#include <algorithm>
#include <limits>

namespace kinjo::exec {

namespace {

// Chunks of rows between two looks at the thresholds; multiples of 3 groups, as the kernel likes
// them. A query that holds fewer than k rows lets everything through, so the first chunks are
// short.
constexpr int64_t kFirstChunkGroups = 3;
constexpr int64_t kChunkGroupsMax = 30;

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
    filling |= threshold == std::numeric_limits<float>::infinity();
  }
  return filling;
}

}  // namespace

int64_t FilterTile(kernels::Metric metric, const QueryTile& tile, const RowRange& range,
                   const SurvivorScorer& scorer, NeighborHeaps* heaps, FilterScratch* scratch) {
  const int64_t dim = range.rows->dim();
  int64_t survivors = 0;
  int64_t chunk = kFirstChunkGroups;
  for (int64_t done = 0; done < range.num_groups;) {
    const bool filling = SetBounds(metric, tile, dim, *heaps, &scratch->bounds);
    chunk = filling ? std::min(chunk, kChunkGroupsMax) : kChunkGroupsMax;
    const int64_t groups = std::min(chunk, range.num_groups - done);
    const size_t room = static_cast<size_t>(tile.num_queries * groups * kernels::kGroupRows);
    if (scratch->hits.size() < room) {
      scratch->hits.resize(room);
      scratch->distances.resize(room);
    }
    const kernels::BlockScan scan{.rows = range.rows->rows(),
                                  .init = range.rows->init(),
                                  .dim = dim,
                                  .first_group = range.first_group + done,
                                  .num_groups = groups,
                                  .queries = tile.moved,
                                  .bounds = scratch->bounds.data(),
                                  .num_queries = tile.num_queries};
    const int64_t found = kernels::ScanBlock(scan, scratch->hits.data());
    scorer.Score({scratch->hits.data(), static_cast<size_t>(found)}, tile.query_ids,
                 scratch->distances.data());
    for (int64_t i = 0; i < found; ++i) {
      const kernels::Hit hit = scratch->hits[i];
      heaps->Push(tile.query_ids[hit.query], {scratch->distances[i], range.addresses[hit.row]});
    }
    survivors += found;
    done += groups;
    chunk *= 2;
  }
  return survivors;
}

}  // namespace kinjo::exec
