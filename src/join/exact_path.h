// The exact path: the right side is streamed once a query block. Its blocks are scored by all
// threads while the next is read, or each thread has blocks of its own (join/ways.h).
#pragma once

#include <functional>
#include <memory>
#include <mutex>
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
#include "join/ways.h"

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
  /// the heaps keep queries to groups (vectors only), in the plan's way.
  /// Requires of kKeptBlocks: each call names the same fragments, the plan the same rows, and the
  /// heaps no groups.
  arrow::Status Scan(const Queries& queries,
                     const std::optional<std::vector<uint64_t>>& fragment_ids,
                     exec::NeighborHeaps* heaps, const OnRows& on_rows);

 private:
  /// Where a scan that threads share has got to.
  struct Reading {
    dataset::Scan* scan = nullptr;
    std::mutex mutex;  // guards what follows, and the scan
    int64_t next_block = 0;
    bool ended = false;
    int64_t failed_block = -1;  // the first, with its failure
    arrow::Status failed;
  };
  /// Some rows of a scan; null at its end.
  struct Batch {
    dataset::ScanBatch rows;
    int64_t first_row = 0;  // ordinal of the first
    int64_t block = 0;      // number of the batch
  };

  /// Not from two threads at a time.
  arrow::Result<Batch> NextBatch(dataset::Scan* scan);
  arrow::Status FillBlock(const Queries& queries, const exec::NeighborHeaps& heaps,
                          const Batch& batch, Block* block);
  /// Reads on until a block holds a row that can match; `more` is false at the end.
  arrow::Status ReadBlock(const Queries& queries, const exec::NeighborHeaps& heaps,
                          dataset::Scan* scan, Block* block, bool* more);
  arrow::Status ScanSharedBlocks(const Queries& queries, dataset::Scan* scan, Block* first,
                                 Distance* distance, exec::NeighborHeaps* heaps,
                                 const OnRows& on_rows);
  arrow::Status ScanOwnBlocks(const Queries& queries, dataset::Scan* scan, Block* first,
                              Distance* distance, exec::NeighborHeaps* heaps,
                              const OnRows& on_rows);
  /// What one thread does of ScanOwnBlocks after the first block.
  arrow::Status ScanOnward(const Queries& queries, int worker, Reading* reading, Distance* distance,
                           exec::NeighborHeaps* heaps, const OnRows& on_rows);
  /// Scores one block, and takes it away to be kept where the way says so.
  arrow::Status ScoreOwn(Block* block, int64_t number, int worker, Distance* distance,
                         exec::NeighborHeaps* heaps);
  arrow::Status ScoreKept(Distance* distance, exec::NeighborHeaps* heaps, const OnRows& on_rows);
  bool keeps() const { return plan_.ways.exact == ExactWay::kKeptBlocks; }
  /// Pairs are scored without a filter before.
  bool scores_pairs(const exec::NeighborHeaps& heaps) const {
    return plan_.ways.exact == ExactWay::kPairs && heaps.groups() == nullptr;
  }

  const JoinPlan& plan_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  RunCounters* counters_;
  std::optional<exec::FilterSpace> space_;    // around the first rows of the run
  int64_t next_row_ = 0;                      // ordinal of the scan's next row, for messages
  int64_t next_block_ = 0;                    // number of the scan's next batch
  std::vector<uint32_t> groups_;              // of the queries at hand, rising
  std::mutex kept_mutex_;                     // guards kept_ while it fills
  std::vector<std::unique_ptr<Block>> kept_;  // all right rows, once the first scan is done
};

extern template class ExactScan<exec::KnnVectorDistance>;
extern template class ExactScan<exec::MultivectorDistance>;

using ExactPath = ExactScan<exec::KnnVectorDistance>;
using MultivectorExactPath = ExactScan<exec::MultivectorDistance>;

}  // namespace kinjo::join
