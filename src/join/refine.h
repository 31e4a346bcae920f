// Refine: the candidates of a whole query block are gathered, each distinct right row is read once
// in address order, and the canonical distance on its true vector decides.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "exec/exact_rows.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_rows.h"
#include "join/plan.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// Made once a run. Not thread-safe; spreads its own work.
class Refiner {
 public:
  Refiner(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
          RunCounters* counters)
      : plan_(plan), pool_(pool), cancel_(std::move(cancel)), counters_(counters) {}

  /// Empties `candidates` and offers each of its rows to `heaps` with its true distance.
  arrow::Status Refine(const exec::QueryRows& queries, exec::NeighborHeaps* candidates,
                       exec::NeighborHeaps* heaps);

 private:
  /// Rising addresses of one query, and how far they are scored.
  struct Pending {
    std::vector<uint64_t> addresses;
    size_t scored = 0;
  };
  /// Rows that were read together.
  struct Chunk {
    std::span<const uint64_t> addresses;
    exec::ExactRows rows;
  };

  arrow::Status Gather(exec::NeighborHeaps* candidates);
  arrow::Status ReadChunk(const exec::QueryRows& queries, std::span<const uint64_t> addresses,
                          Chunk* chunk);
  void ScoreQuery(const exec::QueryRows& queries, uint32_t query, const Chunk& chunk,
                  exec::NeighborHeaps* heaps);
  arrow::Status ScoreChunk(const exec::QueryRows& queries, const Chunk& chunk,
                           exec::NeighborHeaps* heaps,
                           const std::function<arrow::Status()>& beside);

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  RunCounters* counters_;
  std::vector<Pending> pending_;    // of each query
  std::vector<uint64_t> distinct_;  // of the block, rising
};

}  // namespace kinjo::join
