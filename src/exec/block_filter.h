// Filter, then score: the kernel lets through what may be among a query's k nearest, the canonical
// distance decides. Exact blocks and decoded index partitions go through the same code.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "exec/neighbor_heaps.h"
#include "index/smallest_scores.h"
#include "kernels/block_scan.h"
#include "kernels/metric.h"

namespace kinjo::exec {

/// Queries a tile holds at most: they are packed once a call and stay in the cache while rows pass
/// by. A multiple of 24, as the kernel likes it (docs/kernels.md).
inline constexpr int64_t kTileQueries = 240;

/// Pairs of a chunk at most: as many hits there may be.
inline constexpr int64_t kChunkPairsMax = int64_t{1} << 18;

/// A tile of moved queries.
struct QueryTile {
  int64_t num_queries = 0;
  const float* moved = nullptr;         ///< [num_queries][dim], moved as the rows
  const double* norms2 = nullptr;       ///< squared length of each moved query
  const uint32_t* query_ids = nullptr;  ///< number of each query in its block
};

/// The rows to scan: groups [first_group, first_group + num_groups), and of these the slots
/// [first_slot, last_slot) only.
struct RowRange {
  const kernels::GroupedRows* rows = nullptr;
  const uint64_t* addresses = nullptr;  ///< of each slot
  int64_t first_group = 0;
  int64_t num_groups = 0;
  int64_t first_slot = 0;
  int64_t last_slot = std::numeric_limits<int64_t>::max();

  bool holds(int64_t slot) const { return first_slot <= slot && slot < last_slot; }
};

/// Gives survivors their canonical distance. Called once a chunk, never once a row.
class SurvivorScorer {
 public:
  virtual ~SurvivorScorer() = default;
  /// distances[i] belongs to hits[i]; hits[i].query counts in `query_ids`.
  virtual void Score(std::span<const kernels::Hit> hits, const uint32_t* query_ids,
                     float* distances) const = 0;
};

/// A thread's buffers, kept from tile to tile. Hits have room for every pair of a chunk, since all
/// of them may survive; only what survives is ever touched.
struct FilterScratch {
  std::vector<float> bounds;
  std::unique_ptr<kernels::Hit[]> hits;
  int64_t hits_room = 0;
  std::vector<float> distances;
  std::vector<float> seed_scores;
  std::vector<float> seed_slack;
  index::PickScratch seed_pick;
};

/// Scans the rows for the tile and pushes every survivor; returns how many there were.
int64_t FilterTile(kernels::Metric metric, const QueryTile& tile, const RowRange& range,
                   const SurvivorScorer& scorer, NeighborHeaps* heaps, FilterScratch* scratch);

}  // namespace kinjo::exec
