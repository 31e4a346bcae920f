// The exact path: the right side is streamed once a query block, and each of its blocks is scored
// while the next is read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel_token.h"
#include "base/thread_pool.h"
#include "exec/filter_space.h"
#include "exec/knn_vector_distance.h"
#include "exec/multivector_distance.h"
#include "exec/neighbor_heaps.h"
#include "join/plan.h"
#include "join/run_counters.h"

namespace kinjo::join {

/// Made once a run, for the operator that scores its kind of columns. Not thread-safe; spreads its
/// own work.
template <typename Distance>
class ExactScan {
 public:
  using Queries = typename Distance::Queries;
  using Block = typename Distance::Block;

  ExactScan(const JoinPlan& plan, base::ThreadPool* pool, base::CancelToken cancel,
            RunCounters* counters)
      : plan_(plan), pool_(pool), cancel_(std::move(cancel)), counters_(counters) {}

  /// Told the right rows scanned so far, after each of their blocks. May be empty.
  using OnRows = std::function<void(int64_t)>;

  /// Scores every right row (of the given fragments) for every query, or those of its group where
  /// the heaps keep queries to groups (vectors only).
  arrow::Status Scan(const Queries& queries,
                     const std::optional<std::vector<uint64_t>>& fragment_ids,
                     exec::NeighborHeaps* heaps, const OnRows& on_rows);

 private:
  /// Reads on until a block holds a row that can match; `more` is false at the end.
  arrow::Status ReadBlock(const Queries& queries, const exec::NeighborHeaps& heaps,
                          dataset::Scan* scan, Block* block, bool* more);

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  RunCounters* counters_;
  std::optional<exec::FilterSpace> space_;  // around the first rows of the run
  int64_t next_row_ = 0;                    // ordinal of the scan's next row, for messages
  std::vector<uint32_t> groups_;            // of the queries at hand, rising
};

extern template class ExactScan<exec::KnnVectorDistance>;
extern template class ExactScan<exec::MultivectorDistance>;

using ExactPath = ExactScan<exec::KnnVectorDistance>;
using MultivectorExactPath = ExactScan<exec::MultivectorDistance>;

}  // namespace kinjo::join
