#include "exec/partition_cache.h"

namespace kinjo::exec {

int64_t LoadedPartition::size_bytes() const {
  return static_cast<int64_t>(addresses.capacity() * sizeof(uint64_t) + sizeof(*this) +
                              stored.size_bytes()) +
         graph.size_bytes();
}

std::shared_ptr<const LoadedPartition> PartitionCache::Find(size_t segment,
                                                            int64_t partition) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = kept_.find(Key(segment, partition));
  return found == kept_.end() ? nullptr : found->second;
}

int64_t PartitionCache::room_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return capacity_bytes_ - used_bytes_;
}

void PartitionCache::Keep(size_t segment, int64_t partition,
                          std::shared_ptr<const LoadedPartition> loaded) {
  const int64_t bytes = loaded->size_bytes();
  std::lock_guard<std::mutex> lock(mutex_);
  if (used_bytes_ + bytes > capacity_bytes_) return;
  if (kept_.emplace(Key(segment, partition), std::move(loaded)).second) used_bytes_ += bytes;
}

}  // namespace kinjo::exec
