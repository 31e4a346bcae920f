// The search of query blocks, on whichever path the plan took: index, refine, un-indexed rows, or
// the exact scan. It hands on the best rows of each query and says what the queries met.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "exec/neighbor_heaps.h"
#include "join/eligible_rows.h"
#include "join/exact_path.h"
#include "join/left_block.h"
#include "join/multivector_search.h"
#include "join/plan.h"
#include "join/prober.h"
#include "join/refine.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// The rows found for each query of a block, best first.
using Matches = std::vector<std::vector<kernels::Neighbor>>;

/// Made once a run, for a plan that knows the rows that passed the filter; plan, `eligible` and
/// pool outlive it. Not thread-safe; spreads its own work.
class BlockSearch {
 public:
  /// `eligible` is null when every right row may come out for every left row.
  BlockSearch(const JoinPlan& plan, const EligibleRows* eligible, base::ThreadPool* pool,
              base::CancelToken cancel, RunCounters* counters);

  /// At most k rows for each query of the block, in the order of their numbers. `on_rows` is told
  /// the rows that an exact scan has done so far, and may be empty.
  arrow::Result<Matches> Search(const LeftBlock& block,
                                const std::function<void(int64_t)>& on_rows);

  /// What each query of the last block met.
  const std::vector<Prober::Met>& met() const { return met_; }

 private:
  arrow::Status SearchLists(const LeftBlock& block, const std::function<void(int64_t)>& on_rows);
  arrow::Status SearchQueries(const LeftBlock& block, const std::function<void(int64_t)>& on_rows);
  /// Scores all rows of the groups of `block.few`.
  arrow::Status ScoreGroups(const LeftBlock& block, Matches* matches);
  /// Appends the neighbours of each query, and what they met.
  arrow::Status Drain(Matches* matches);

  const JoinPlan& plan_;
  JoinPlan scored_plan_;  // of groups whose rows are all scored
  const EligibleRows* eligible_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  std::optional<Prober> prober_;
  std::optional<MultivectorSearch> multivector_;
  ExactPath exact_;
  ExactPath scored_;
  Refiner refiner_;
  exec::NeighborHeaps candidates_;
  exec::NeighborHeaps heaps_;
  // What the queries at hand met in the index, beside what the heaps say; null when they weren't
  // sent through it.
  const std::vector<Prober::Met>* met_in_index_ = nullptr;
  bool heaps_tell_rows_ = true;
  std::vector<Prober::Met> met_;  // by those that are done
};

}  // namespace kinjo::join
