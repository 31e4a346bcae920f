// What becomes of the matches of a join that gives pairs of rows: which of them come out
// (unordered_pairs, mutual), or what they connect (clusters). unordered_pairs alone is decided row
// by row as the left side streams by; the others only when the last left row was searched.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/thread_pool.h"
#include "join/block_search.h"
#include "join/left_block.h"
#include "join/neighbor_lists.h"
#include "join/pair_selection.h"
#include "join/plan.h"
#include "join/row_clusters.h"
#include "join/run_counters.h"
#include "join/self_rows.h"
#include "kernels/top_k.h"

namespace kinjo::join {

/// Which matches of each row of a block come out.
using KeptMatches = std::vector<std::vector<bool>>;

/// Left rows of a join that gives pairs, at most: they are named by 32 bits.
inline constexpr int64_t kPairedRowsMax = UINT32_MAX;

/// What a join of `left_rows` rows (none = not known) that gives pairs keeps of all left rows until
/// it ends, at most, in bytes; 0 where the rows would have to be known. `plan` has its sides,
/// options and columns.
int64_t PairingBytes(const JoinPlan& plan, std::optional<int64_t> left_rows);

/// Rows of the left side as far as they are known before it is read: of a self-join also by the
/// right side.
std::optional<int64_t> KnownLeftRows(const JoinPlan& plan);

/// Made once a run of a plan that gives pairs. Called by one thread; spreads its own work.
class Pairing {
 public:
  /// Takes from the budget what the plan couldn't foresee because the left rows aren't known. What
  /// is given must outlive it.
  static arrow::Result<std::unique_ptr<Pairing>> Make(const JoinPlan& plan, base::ThreadPool* pool,
                                                      const base::CancelToken& cancel,
                                                      base::MemoryBudget* budget,
                                                      RunCounters* counters);

  /// Takes the matches of the next left block. Where rows come out as they are found, `kept` tells
  /// which; else it is left alone.
  arrow::Status Add(const LeftBlock& block, const Matches& matches, KeptMatches* kept);

  /// The right rows that are a match of any left row, rising. For a mutual join of two tables,
  /// after the last Add.
  arrow::Result<std::vector<uint64_t>> MatchedRows() const;
  /// Says that a right row has these left rows, named by their ordinals, among its own k.
  void AddReverse(uint64_t address, std::span<const kernels::Neighbor> left_rows);

  /// Decides which matches come out, and the clusters. After all of the above.
  arrow::Status Decide();

  /// The matches of rows [first_row, first_row + num_rows) and which of them come out. After
  /// Decide.
  void Get(int64_t first_row, int64_t num_rows, Matches* matches, KeptMatches* kept) const;
  /// Fails when the rows that are read again are not those that were added: `num_rows` from
  /// `first_row` on, or the end where that is 0.
  arrow::Status CheckRows(int64_t first_row, int64_t num_rows) const;
  /// The smallest row of the cluster that a row is in. After Decide.
  int64_t ClusterOf(int64_t row) { return clusters_->Find(static_cast<uint32_t>(row)); }

 private:
  Pairing(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
          base::MemoryBudget* budget, RunCounters* counters)
      : plan_(plan),
        pool_(pool),
        cancel_(std::move(cancel)),
        budget_(budget),
        counters_(counters) {}

  /// Takes from the budget what `rows` rows need, if that wasn't planned.
  arrow::Status ReserveFor(int64_t rows);
  /// The left row that a right row is.
  arrow::Result<uint32_t> RowOf(uint64_t address) const;
  arrow::Status SelectOnce(const std::vector<kernels::Neighbor>& neighbours,
                           std::vector<bool>* kept);
  arrow::Status Connect(int64_t row, const std::vector<kernels::Neighbor>& neighbours);
  /// Marks what is mutual in a self-join.
  arrow::Status MarkMutual();

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  base::MemoryBudget* budget_;
  RunCounters* counters_;
  std::optional<SelfRows> self_rows_;  // self-joins
  std::optional<PairSelection> selection_;
  std::optional<RowClusters> clusters_;
  std::optional<NeighborLists> lists_;
  std::vector<uint32_t> ordinals_;  // of the neighbours at hand
  std::vector<base::Reservation> reservations_;
  int64_t reserved_rows_ = 0;
  int64_t next_row_ = 0;
  int64_t matches_ = 0;
};

}  // namespace kinjo::join
