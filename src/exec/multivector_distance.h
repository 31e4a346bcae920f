// The exact search of multivector columns: a block of left lists against a block of right lists.
// The kernel scores every pair of vectors, the least score of each (left vector, right row) gives a
// lower bound of the row's distance, and the rows within a list's bound get the canonical distance.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "exec/filter_space.h"
#include "exec/list_rows.h"
#include "exec/neighbor_heaps.h"
#include "exec/query_lists.h"

namespace kinjo::exec {

/// A block of true right lists ready to scan: those that can match, their vectors grouped.
class ListBlock {
 public:
  /// `addresses` belong to all rows of `rows`.
  void Fill(const FilterSpace& space, ListRows rows, const std::vector<uint64_t>& addresses);

  /// Rows that can match.
  int64_t num_rows() const { return static_cast<int64_t>(addresses_.size()); }
  /// Row i has the slots [begin(i), begin(i + 1)) of grouped().
  int64_t begin(int64_t i) const { return begins_[i]; }
  uint64_t address(int64_t i) const { return addresses_[i]; }
  const std::vector<uint64_t>& addresses() const { return addresses_; }
  /// The vector of exact().vectors() that lies in `slot`.
  uint32_t vector_of(int64_t slot) const { return vector_of_slot_[slot]; }
  const ListRows& exact() const { return exact_; }
  const kernels::GroupedRows& grouped() const { return grouped_; }

 private:
  ListRows exact_;
  kernels::GroupedRows grouped_;
  std::vector<int64_t> begins_;
  std::vector<uint64_t> addresses_;
  std::vector<uint32_t> vector_of_slot_;
  std::vector<double> unit_;
};

/// One run over many row blocks. Not thread-safe; spreads its own work. A thread's scores take
/// kScoresMax floats, or as many as one left vector against one right row needs.
class MultivectorDistance {
 public:
  using Queries = QueryLists;
  using Rows = ListRows;
  using Block = ListBlock;

  static constexpr int64_t kScoresMax = int64_t{1} << 17;

  MultivectorDistance(base::ThreadPool* pool, base::CancelToken cancel)
      : pool_(pool), cancel_(std::move(cancel)), scratch_(static_cast<size_t>(pool->size())) {}

  /// Takes the lists of the next row blocks. Both must outlive the calls to Score.
  arrow::Status SetQueries(const FilterSpace* space, const QueryLists* queries);

  /// Scores every row of `block` for every list; heaps are those of the lists. `beside` runs once
  /// at the same time as one more item of the loop (reading the next block), may be empty.
  arrow::Status Score(const ListBlock& block, NeighborHeaps* heaps,
                      const std::function<arrow::Status()>& beside);

  /// Canonical distances of lists to rows so far.
  int64_t exact_comparisons() const { return comparisons_.load(std::memory_order_relaxed); }
  /// What the scores of all threads take.
  int64_t scores_bytes() const;
  /// Items of work started so far.
  int64_t tiles_started() const { return tiles_.load(std::memory_order_relaxed); }

 private:
  /// Consecutive lists, scored together.
  struct Tile {
    int64_t first_list, last_list;  // [first, last)
  };
  struct Item {
    Tile tile;
    int64_t first_row, last_row;  // [first, last)
  };
  /// A thread's buffers.
  struct Scratch {
    std::vector<float> scores;  // [query of the tile][slot of the chunk]
    std::vector<double> sums;   // of each row of the chunk
    std::vector<uint32_t> near;
  };
  /// Consecutive queries.
  struct QueryRange {
    int64_t first, last;  // [first, last)
    int64_t size() const { return last - first; }
  };
  /// Scores of some queries and consecutive rows.
  struct Chunk {
    int64_t first_row, last_row;
    int64_t first_slot;  // which score 0 belongs to
    int64_t stride;
    int64_t first_query;
    const float* scores;
    const float* of(int64_t query, int64_t slot) const {
      return scores + (query - first_query) * stride + (slot - first_slot);
    }
  };

  std::vector<Item> Cut(const ListBlock& block) const;
  Chunk ScoreChunk(const ListBlock& block, QueryRange queries, int64_t first_row, int64_t last_row,
                   Scratch* scratch) const;
  void ScoreList(const ListBlock& block, const Chunk& chunk, int64_t list, Scratch* scratch,
                 NeighborHeaps* heaps);
  /// The same for one row whose scores are too many to be had at once: some queries at a time.
  arrow::Status ScoreListByParts(const ListBlock& block, int64_t list, int64_t row,
                                 Scratch* scratch, NeighborHeaps* heaps);
  /// True when a canonical distance whose lower bound is `sum` may come into the answer.
  static bool MayEnter(double sum, const NeighborHeaps& heaps, int64_t list);
  /// The canonical distance of one left vector to a row; of the right vectors only those are looked
  /// at whose score can be the least.
  double NearestOf(const ListBlock& block, const Chunk& chunk, int64_t query, int64_t row,
                   Scratch* scratch) const;
  void CountMet(const Item& item, NeighborHeaps* heaps) const;
  arrow::Status ScoreItem(const ListBlock& block, const Item& item, int worker,
                          NeighborHeaps* heaps);

  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  const FilterSpace* space_ = nullptr;
  const QueryLists* queries_ = nullptr;
  MovedQueries moved_;
  std::vector<double>
      offsets_;  // of each list: what the sum of least scores lacks of a lower bound
  std::vector<Tile> tiles_of_lists_;
  std::vector<ExcludedRow> excluded_;  // of the block at hand, by row
  std::vector<Scratch> scratch_;       // of each worker
  std::atomic<int64_t> comparisons_{0};
  std::atomic<int64_t> tiles_{0};
};

}  // namespace kinjo::exec
