// The scan of one loaded partition for the queries that visit it, where its rows aren't scored all:
// through its graph, or bit by bit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "exec/neighbor_heaps.h"
#include "exec/partition_cache.h"
#include "index/hnsw_search.h"
#include "index/ivf_segment.h"

namespace kinjo::exec {

/// A thread's buffers.
struct GraphScratch {
  index::HnswSearcher searcher;
  std::vector<uint32_t> found;
  std::vector<uint64_t> addresses;  ///< of the partition, without the rows that a query excludes
  index::DecodedPartition rows;     ///< a view of the stored rows that were found
};

/// One partition and the queries that visit it.
struct PartitionVisit {
  const index::IvfSegment* segment = nullptr;
  int64_t partition = 0;
  const LoadedPartition* loaded = nullptr;
  const index::QueryBlock* queries = nullptr;
  std::span<const uint32_t> query_ids;
  /// Of each stored row from `first_row` on; dataset::kDeadRow for those that may not come out for
  /// these queries.
  std::span<const uint64_t> addresses;
  int64_t first_row = 0;  ///< not 0 in a slice of a partition
  int64_t live_rows = 0;  ///< those that may
  /// The rows that single queries exclude, by their numbers in what is scanned: the stored rows of
  /// a graph, else the decoded ones.
  std::span<const ExcludedRow> excluded;
};

/// True when a partition is searched through its graph. False without one, and, as in Lance, when
/// fewer than a tenth of its rows are live: all those are scored instead.
bool SearchesGraph(const LoadedPartition& loaded, int64_t live_rows);

/// Offers each query the rows that the search with a beam of `ef` (at least as many as a heap
/// holds) finds, with their reported distances. The range of the heaps bounds the beam too. Returns
/// the distances computed.
arrow::Result<int64_t> ScanGraph(const PartitionVisit& visit, int64_t ef,
                                 const base::CancelToken& cancel, GraphScratch* scratch,
                                 NeighborHeaps* heaps);

}  // namespace kinjo::exec
