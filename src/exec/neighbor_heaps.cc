#include "exec/neighbor_heaps.h"

#include <algorithm>

namespace kinjo::exec {

void NeighborHeaps::Reset(int64_t num_queries, int64_t k, DistanceRange range,
                          const QueryEligibility* eligibility) {
  if (num_queries > capacity_) {
    slots_ = std::make_unique<Slot[]>(static_cast<size_t>(num_queries));
    capacity_ = num_queries;
  }
  num_queries_ = num_queries;
  k_ = k;
  range_ = range;
  eligibility_ = eligibility;
  for (int64_t query = 0; query < num_queries; ++query) {
    slots_[query].heap = kernels::TopK(k);
    slots_[query].threshold.store(range.maximum, std::memory_order_relaxed);
    slots_[query].nearer.store(0, std::memory_order_relaxed);
    slots_[query].met.store(0, std::memory_order_relaxed);
  }
}

void NeighborHeaps::LowerThreshold(int64_t query, float distance) {
  Slot& slot = slots_[query];
  while (slot.busy.test_and_set(std::memory_order_acquire)) {
  }
  if (distance < slot.threshold.load(std::memory_order_relaxed)) {
    slot.threshold.store(distance, std::memory_order_relaxed);
  }
  slot.busy.clear(std::memory_order_release);
}

void NeighborHeaps::Push(int64_t query, kernels::Neighbor neighbor) {
  Slot& slot = slots_[query];
  if (neighbor.distance < range_.lower) {
    if (Excludes(query, neighbor.address)) return;
    slot.nearer.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  // Written so that NaN is passed over too.
  if (!(neighbor.distance <= slot.threshold.load(std::memory_order_relaxed))) return;
  if (Excludes(query, neighbor.address)) return;
  while (slot.busy.test_and_set(std::memory_order_acquire)) {
  }
  if (slot.heap.Push(neighbor) && slot.heap.full() &&
      slot.heap.worst_distance() < slot.threshold.load(std::memory_order_relaxed)) {
    slot.threshold.store(slot.heap.worst_distance(), std::memory_order_relaxed);
  }
  slot.busy.clear(std::memory_order_release);
}

}  // namespace kinjo::exec
