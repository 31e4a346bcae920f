// The k best rows of every query of a block, filled from many threads at once. The kept rows don't
// depend on the order in which they come, so neither does the answer depend on the threads.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "exec/query_eligibility.h"
#include "kernels/top_k.h"

namespace kinjo::exec {

/// Distances that may come out: lower <= d <= maximum. `[lower, upper)` of the user becomes maximum
/// = the largest float below upper.
struct DistanceRange {
  float lower = -std::numeric_limits<float>::infinity();
  float maximum = std::numeric_limits<float>::infinity();

  static DistanceRange HalfOpen(float lower, float upper) {
    return {lower, std::nextafter(upper, -std::numeric_limits<float>::infinity())};
  }
};

/// Thread-safe but for Reset, size and TakeSorted.
class NeighborHeaps {
 public:
  /// Empties the heaps: `k` rows for each of `num_queries` queries. `eligibility` (null: all rows
  /// may come out for every query) must outlive their use.
  void Reset(int64_t num_queries, int64_t k, DistanceRange range,
             const QueryEligibility* eligibility = nullptr);

  int64_t num_queries() const { return num_queries_; }
  /// Rows kept for each query.
  int64_t k() const { return k_; }
  const DistanceRange& range() const { return range_; }
  const QueryEligibility* eligibility() const { return eligibility_; }
  /// Groups of right rows that queries are kept to; null = none.
  const RowGroups* groups() const {
    return eligibility_ == nullptr ? nullptr : eligibility_->groups;
  }
  /// Rows that are offered to `query` and may not come out, at most.
  int64_t excluded_rows(int64_t query) const {
    return eligibility_ == nullptr ? 0 : eligibility_->excluded_rows(query);
  }

  /// A row farther than this can't come into the answer of `query` any more (one that is exactly as
  /// far may, by its address). Only ever falls.
  float threshold(int64_t query) const {
    return slots_[query].threshold.load(std::memory_order_relaxed);
  }

  /// True while nothing but the range bounds what comes in.
  bool filling(int64_t query) const { return threshold(query) == range_.maximum; }

  /// Says that k rows at most this far will have been offered in the end: what is farther can be
  /// dropped now. Requires: no row nearer than the range is among the k.
  void LowerThreshold(int64_t query, float distance);

  /// Says that `rows` rows nearer than the range were met and not offered.
  void CountNearer(int64_t query, int64_t rows) {
    slots_[query].nearer.fetch_add(rows, std::memory_order_relaxed);
  }

  /// Says that `rows` rows were met that can match and may come out, whatever their distance.
  void CountMet(int64_t query, int64_t rows) {
    slots_[query].met.fetch_add(rows, std::memory_order_relaxed);
  }

  /// Offers a row. Distances outside of the range, NaN, and a row that the query excludes are
  /// passed over.
  void Push(int64_t query, kernels::Neighbor neighbor);

  /// Rows kept so far; not while others push.
  int64_t size(int64_t query) const { return slots_[query].heap.size(); }
  /// Rows met that were nearer than the range.
  int64_t nearer_than_range(int64_t query) const {
    return slots_[query].nearer.load(std::memory_order_relaxed);
  }
  /// Rows met so far.
  int64_t met(int64_t query) const { return slots_[query].met.load(std::memory_order_relaxed); }

  /// The kept rows of `query`, in no order; not while others push.
  std::span<const kernels::Neighbor> rows(int64_t query) const { return slots_[query].heap.rows(); }
  /// Forgets the rows of `query` and frees their memory.
  void Drop(int64_t query) { slots_[query].heap = kernels::TopK(k_); }

  /// Asks for the memory of a query that a Push will soon want: of many that take turns, few are
  /// in the cache.
  void Prefetch(int64_t query) const { __builtin_prefetch(&slots_[query], 1); }

  /// The kept rows of `query`, best first; its heap is empty afterwards.
  std::vector<kernels::Neighbor> TakeSorted(int64_t query) {
    return slots_[query].heap.TakeSorted();
  }

 private:
  struct alignas(64) Slot {
    kernels::TopK heap{0};
    std::atomic<float> threshold{0};
    std::atomic<int64_t> nearer{0};
    std::atomic<int64_t> met{0};
    std::atomic_flag busy = ATOMIC_FLAG_INIT;
  };

  bool Excludes(int64_t query, uint64_t address) const {
    return eligibility_ != nullptr && eligibility_->Excludes(query, address);
  }

  int64_t num_queries_ = 0;
  int64_t capacity_ = 0;
  int64_t k_ = 0;
  DistanceRange range_;
  const QueryEligibility* eligibility_ = nullptr;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace kinjo::exec
