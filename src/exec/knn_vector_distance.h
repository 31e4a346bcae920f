// KNNVectorDistance: a block of queries against a block of true rows. The pool is spread over tiles
// of queries, and over ranges of rows when there are few queries; or each thread has a block of its
// own.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "exec/block_filter.h"
#include "exec/exact_rows.h"
#include "exec/filter_space.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_rows.h"

namespace kinjo::exec {

/// One run of the operator over many row blocks. Not thread-safe; spreads its own work.
class KnnVectorDistance {
 public:
  using Queries = QueryRows;
  using Rows = ExactRows;
  using Block = RowBlock;

  KnnVectorDistance(base::ThreadPool* pool, base::CancelToken cancel)
      : pool_(pool), cancel_(std::move(cancel)), scratch_(static_cast<size_t>(pool->size())) {}

  /// Takes the queries of the next row blocks. Both must outlive the calls to Score.
  arrow::Status SetQueries(const FilterSpace* space, const QueryRows* queries);

  /// Scores every row of `block` for every query, or, where the heaps keep queries to groups, those
  /// of its group (the block was filled by group). `beside` runs once at the same time as one more
  /// item of the loop (reading the next block), may be empty.
  arrow::Status Score(const RowBlock& block, NeighborHeaps* heaps,
                      const std::function<arrow::Status()>& beside);

  /// The same in the calling thread, which is `worker` of the pool: others may score other blocks
  /// at the same time.
  arrow::Status ScoreAlone(const RowBlock& block, int worker, NeighborHeaps* heaps);

  /// ScoreAlone without a filter before it: every pair gets its canonical distance. For so few
  /// queries that grouping the rows costs more. Needs an ungrouped block at most, and heaps whose
  /// queries find rows of all groups.
  arrow::Status ScorePairs(const RowBlock& block, NeighborHeaps* heaps);

  /// Canonical distances so far.
  int64_t exact_comparisons() const { return comparisons_.load(std::memory_order_relaxed); }
  /// Items of work started so far.
  int64_t tiles_started() const { return tiles_.load(std::memory_order_relaxed); }

 private:
  /// A tile of queries, and rows as slots [first, last).
  struct Item {
    int64_t first_query, num_queries, first_slot, last_slot;
  };
  /// Queries [first, last) and the slots they are scored against.
  struct Area {
    int64_t first_query, last_query, first_slot, last_slot;
  };
  void Cut(const Area& area, std::vector<Item>* items) const;
  std::vector<Item> CutAll(const RowBlock& block, const NeighborHeaps& heaps) const;
  static std::vector<ExcludedRow> FindExcluded(const RowBlock& block, const NeighborHeaps& heaps);
  void ScoreItem(const RowBlock& block, const Item& item, std::span<const ExcludedRow> excluded,
                 int worker, NeighborHeaps* heaps);
  void ScoreHamming(const RowBlock& block, const Item& item, NeighborHeaps* heaps);

  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  const FilterSpace* space_ = nullptr;
  const QueryRows* queries_ = nullptr;
  MovedQueries moved_;
  std::vector<FilterScratch> scratch_;  // of each worker
  std::atomic<int64_t> comparisons_{0};
  std::atomic<int64_t> tiles_{0};
};

}  // namespace kinjo::exec
