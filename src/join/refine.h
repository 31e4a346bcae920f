// Refine: the candidates of a whole query block are gathered, each distinct right row is read once
// in address order, and the canonical distance on its true vector decides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "exec/exact_rows.h"
#include "exec/list_rows.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_lists.h"
#include "exec/query_rows.h"
#include "join/plan.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// Made once a run, for its kind of columns. Not thread-safe; spreads its own work: the addresses
/// are cut into intervals of about equally many candidates, and each thread reads and scores one
/// interval at a time.
template <typename Rows, typename Queries>
class CandidateRefiner {
 public:
  CandidateRefiner(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
                   RunCounters* counters)
      : plan_(plan),
        pool_(pool),
        cancel_(std::move(cancel)),
        counters_(counters),
        workers_(static_cast<size_t>(pool->size())) {}

  /// Empties `candidates` and offers each of its rows to `heaps` with its true distance.
  arrow::Status Refine(const Queries& queries, exec::NeighborHeaps* candidates,
                       exec::NeighborHeaps* heaps);

 private:
  /// A query and a right row that is among its candidates.
  struct Candidate {
    uint64_t address;
    uint32_t query;
  };
  /// A thread's buffers.
  struct Worker {
    std::vector<Candidate> sorting;
    std::vector<uint64_t> distinct;  // addresses of the interval, rising
    std::vector<exec::ScorePair> pairs;
    std::vector<float> distances;
  };

  /// The first address of each interval after the first, rising.
  std::vector<uint64_t> CutAddresses(const exec::NeighborHeaps& candidates) const;
  /// Moves the candidates from their heaps into candidates_, one interval after another.
  arrow::Status Gather(const std::vector<uint64_t>& cuts, exec::NeighborHeaps* candidates);
  /// Reads and scores one interval's candidates, whom it sorts by address.
  arrow::Status RefineInterval(const Queries& queries, std::span<Candidate> interval,
                               size_t chunk_rows, Worker* worker, exec::NeighborHeaps* heaps);
  arrow::Result<Rows> ReadRows(const Queries& queries, std::span<const uint64_t> addresses);
  /// Scores the candidates, whose rows are those of `addresses`.
  void ScoreChunk(const Queries& queries, const Rows& rows, std::span<const uint64_t> addresses,
                  std::span<const Candidate> candidates, Worker* worker,
                  exec::NeighborHeaps* heaps);
  static void SortByAddress(std::span<Candidate> candidates, std::vector<Candidate>* scratch);

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  RunCounters* counters_;
  std::vector<Candidate> candidates_;
  std::vector<size_t> interval_begins_;  // in candidates_, and its end
  std::vector<Worker> workers_;
};

extern template class CandidateRefiner<exec::ExactRows, exec::QueryRows>;
extern template class CandidateRefiner<exec::ListRows, exec::QueryLists>;

using Refiner = CandidateRefiner<exec::ExactRows, exec::QueryRows>;
using MultivectorRefiner = CandidateRefiner<exec::ListRows, exec::QueryLists>;

}  // namespace kinjo::join
