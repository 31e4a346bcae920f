// Building the neighbour graph of one partition (Malkov and Yashunin's HNSW) in the form that
// format/index_file stores. Rows are inserted in batches: those of a batch search the graph as it
// was before, side by side, and are then linked target by target, so the graph doesn't depend on
// how many threads build it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "format/index_file/graph_model.h"
#include "index/graph_rows.h"

namespace kinjo::index {

/// Lance's parameters and defaults.
struct HnswParams {
  uint32_t m = 20;  ///< neighbours a node keeps above level 0, at least 2; twice as many on it
  uint32_t ef_construction = 150;  ///< nodes that the search for neighbours holds, at least 1
  uint32_t max_level = 7;          ///< levels at most, level 0 counted, at least 1
  uint64_t seed = 0;
};

/// A graph and how far its neighbours are, level by level as GraphLevel::neighbors lists them.
struct BuiltGraph {
  format::PartitionGraph graph;
  std::vector<std::vector<float>> distances;
};

/// Called after each batch, on the calling thread, with the rows inserted so far.
using GraphProgress = std::function<void(uint32_t)>;

/// Builds the graph over all rows. The same rows and parameters give the same graph.
arrow::Result<BuiltGraph> BuildHnsw(const GraphRows& rows, const HnswParams& params,
                                    base::ThreadPool* pool, const base::CancelToken& cancel,
                                    const GraphProgress& progress = {});

/// The most memory that BuildHnsw takes for a partition of `nodes` rows on `threads` threads,
/// beside the rows.
int64_t HnswBuildBytes(int64_t nodes, const HnswParams& params, int threads);

}  // namespace kinjo::index
