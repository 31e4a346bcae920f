// The index path of one query block: rank, visit the first round partition-major, and go on with
// the queries that are still short.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "exec/ann_ivf_batch.h"
#include "exec/ann_ivf_partition.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_rows.h"
#include "join/plan.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// A partition of an index of several segments.
struct PartitionPlace {
  size_t segment = 0;
  int64_t partition = -1;
};

/// Made once a run; keeps partitions and buffers from block to block. Not thread-safe; spreads its
/// own work.
class Prober {
 public:
  Prober(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
         RunCounters* counters);

  /// What a query met on its way.
  struct Met {
    int64_t rows = 0;  ///< that could match and may come out, in the partitions it visited
    bool all = true;   ///< it visited every partition that holds rows
  };

  /// Fills the heaps with the candidates of every query; one that met fewer than `wanted` rows goes
  /// on to further partitions.
  arrow::Status Probe(const exec::QueryRows& queries, int64_t wanted, exec::NeighborHeaps* heaps);

  /// The partitions that hold some of the right rows: of each address of `places`, which partition
  /// of which segment; entries of rows that none holds stay as they are.
  arrow::Status Locate(std::unordered_map<uint64_t, PartitionPlace>* places);

  /// Of each query of the last Probe.
  const std::vector<Met>& met() const { return met_; }

 private:
  using Rankings = std::vector<std::unique_ptr<exec::AnnIvfPartition>>;

  exec::ProbeLimits Limits() const;
  arrow::Status Rank(const exec::QueryRows& queries, Rankings* rankings);
  arrow::Status Visit(size_t segment, const exec::AnnIvfPartition& ranking,
                      const std::vector<exec::Probe>& probes, bool wanted_again,
                      exec::NeighborHeaps* heaps);
  /// True when the run visits each query's partitions once, and these are all its queries.
  bool ReadsOnce(const exec::QueryRows& queries) const;
  arrow::Status LateSearch(const Rankings& rankings, exec::NeighborHeaps* heaps);
  void TellMet(const Rankings& rankings, const exec::NeighborHeaps& heaps);
  /// The queries that met fewer eligible rows than wanted and may go on.
  std::vector<uint32_t> Unfinished(const Rankings& rankings, const exec::NeighborHeaps& heaps,
                                   const std::vector<uint32_t>& among) const;

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  RunCounters* counters_;
  std::shared_ptr<exec::PartitionCache> cache_;  ///< the plan's, if it has one
  int64_t wanted_ = 0;
  std::vector<exec::BatchWorker> workers_;                   // of each thread
  std::vector<std::unique_ptr<exec::AnnIvfBatch>> batches_;  // of each segment
  std::vector<Met> met_;
};

}  // namespace kinjo::join
