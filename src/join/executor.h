// Runs a plan: owns the threads and the memory budget of one run, cuts the left side into query
// blocks and takes each through search, refine and take. The only place that decides how a join is
// spread.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel_token.h"
#include "base/memory_budget.h"
#include "base/progress.h"
#include "base/thread_pool.h"
#include "join/block_search.h"
#include "join/knn_join.h"
#include "join/left_block.h"
#include "join/pairing.h"
#include "join/plan.h"
#include "join/recall_meter.h"
#include "join/result_batches.h"
#include "join/run_counters.h"
#include "stream/result_stream.h"

namespace kinjo::join {

/// One run of one plan. Run is called once, on the stream's thread; report may be called from any
/// thread at any time.
class Executor {
 public:
  Executor(std::shared_ptr<const JoinPlan> plan, base::ProgressCallback progress, PartCut cut = {});

  /// Joins everything, or what `cut` says; emits batches of at most kOutputBatchRows rows in left
  /// order, and an empty one behind each part.
  arrow::Status Run(const base::CancelToken& cancel, const stream::ResultStream::Emit& emit);

  JoinReport report() const;

 private:
  /// What lives as long as the run.
  struct Rooms;

  /// Takes what `plan`, which knows the rows that passed the filter, needs beside what
  /// `eligible` (null = nothing) took.
  arrow::Status Reserve(const JoinPlan& plan, const EligibleRows* eligible,
                        std::vector<base::Reservation>* reservations);
  /// Chooses what the plan's recall target asks for, and prepares the measuring.
  arrow::Status SettleRecall(const EligibleRows* eligible, base::ThreadPool* pool,
                             const base::CancelToken& cancel, JoinPlan* plan);
  void TellRecall();
  /// Searches the left block by block; what isn't waited for comes out. `pairing` is null for joins
  /// that don't give pairs.
  arrow::Status SearchBlocks(Rooms* rooms, Pairing* pairing,
                             const stream::ResultStream::Emit& emit);
  /// Searches the left side for the right rows that matched.
  arrow::Status SearchReverse(base::ThreadPool* pool, const base::CancelToken& cancel,
                              Pairing* pairing);
  /// Reads the left again and emits what was waited for.
  arrow::Status GivePairs(const base::CancelToken& cancel, Pairing* pairing,
                          const stream::ResultStream::Emit& emit);
  arrow::Status RunBlocks(JoinPlan plan, const EligibleRows* eligible, base::ThreadPool* pool,
                          const base::CancelToken& cancel, const stream::ResultStream::Emit& emit);
  arrow::Status MarkPart(const stream::ResultStream::Emit& emit) const;
  /// The matches of every query of the block, in the order of their numbers.
  arrow::Result<Matches> Search(const LeftBlock& block, Rooms* rooms);
  /// Counts the left rows with fewer than k matches, and those of them that a cap of the caller's
  /// kept from getting as many rows as there are.
  void CountShort(const LeftBlock& block, const Matches& matches, const Rooms& rooms);
  /// Reports the left rows done, and of the block at hand the part that its scan has done.
  void TellProgress(bool always, double block_rows_done = 0);

  std::shared_ptr<const JoinPlan> plan_;
  base::ProgressCallback progress_;
  const PartCut cut_;
  base::MemoryBudget budget_;
  RunCounters counters_;
  RecallMeter meter_;
  const int64_t requests_before_;
  const int64_t bytes_before_;
  std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point told_;
  /// Of the pass over rows at hand: how many left rows are done before it, what share of one each
  /// of its rows counts, and how many of its rows are done.
  struct Pass {
    double rows_before = 0;
    double share = 1;
    double rows = 0;
  };
  Pass pass_;
};

}  // namespace kinjo::join
