// A first bound for queries that hold no rows yet. Without one everything of their first rows gets
// a canonical distance; the scores of some rows tell, with their error, how far the k-th can be.
#pragma once

#include <cstdint>

#include "exec/block_filter.h"
#include "exec/neighbor_heaps.h"
#include "kernels/metric.h"

namespace kinjo::exec {

/// Lowers the threshold of each query of the tile that holds fewer than k rows to a distance that k
/// rows of `range` don't exceed. Returns the groups that were looked at; 0 when it isn't worth it
/// or the range is too short. (Rows that may not come out don't count.) Requires: all of `range` is
/// scanned for the tile afterwards.
int64_t SeedThresholds(kernels::Metric metric, const QueryTile& tile, const RowRange& range,
                       NeighborHeaps* heaps, FilterScratch* scratch);

}  // namespace kinjo::exec
