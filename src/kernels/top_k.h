// The k best rows of one query under the one total order: distance, then row address.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kinjo::kernels {

/// A row and its distance. The order is the contract's: smaller distance, then smaller address.
struct Neighbor {
  float distance;
  uint64_t address;

  friend bool operator<(const Neighbor& a, const Neighbor& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.address < b.address;
  }
};

/// A bounded max-heap over caller's memory: the worst of the kept rows is on top.
/// Requires: distances are never NaN. The answer doesn't depend on the order of Push calls.
class TopK {
 public:
  explicit TopK(int64_t k) : k_(k) {}

  /// Keeps the row if it is among the k best so far; true if it was kept.
  bool Push(Neighbor neighbor) {
    if (static_cast<int64_t>(heap_.size()) < k_) {
      if (heap_.empty()) heap_.reserve(static_cast<size_t>(std::min(k_, kFirstRoom)));
      heap_.push_back(neighbor);
      std::push_heap(heap_.begin(), heap_.end());
      return true;
    }
    if (k_ == 0 || !(neighbor < heap_.front())) return false;
    ReplaceWorst(neighbor);
    return true;
  }

  bool full() const { return static_cast<int64_t>(heap_.size()) == k_; }
  int64_t size() const { return static_cast<int64_t>(heap_.size()); }

  /// The distance that a row must not exceed to be kept: +inf until k rows are held.
  float worst_distance() const {
    return full() && k_ > 0 ? heap_.front().distance : std::numeric_limits<float>::infinity();
  }

  /// The rows kept so far, in no order.
  std::span<const Neighbor> rows() const { return heap_; }

  /// The rows, best first; the heap is empty afterwards.
  std::vector<Neighbor> TakeSorted() {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  static constexpr int64_t kFirstRoom = 64;

  /// Puts `neighbor` on top and lets it sink.
  void ReplaceWorst(Neighbor neighbor) {
    Neighbor* heap = heap_.data();
    const size_t size = heap_.size();
    size_t hole = 0;
    for (size_t child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && heap[child] < heap[child + 1]) ++child;
      if (!(neighbor < heap[child])) break;
      heap[hole] = heap[child];
      hole = child;
    }
    heap[hole] = neighbor;
  }

  int64_t k_;
  std::vector<Neighbor> heap_;
};

}  // namespace kinjo::kernels
