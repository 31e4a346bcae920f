#include "dataset/kept_partitions.h"

#include <iterator>
#include <utility>

#include "dataset/dataset.h"

namespace kinjo::dataset {

namespace {

std::string KeyOf(const std::string& segment, int64_t partition) {
  return segment + "/" + std::to_string(partition);
}

}  // namespace

KeptPartitions* KeptPartitions::Of(const Dataset* dataset) {
  const auto* keeps = dynamic_cast<const KeepsPartitions*>(dataset);
  return keeps == nullptr ? nullptr : keeps->kept_partitions();
}

KeptPartitions::Content KeptPartitions::Find(const std::string& segment, int64_t partition) {
  const std::string key = KeyOf(segment, partition);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->content;
}

void KeptPartitions::Keep(const std::string& segment, int64_t partition, Content content,
                          int64_t bytes) {
  std::string key = KeyOf(segment, partition);
  bytes += static_cast<int64_t>(sizeof(Entry) + 2 * key.size());
  if (bytes > capacity_bytes_) return;
  std::list<Entry> dropped;  // freed without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  if (by_key_.contains(key)) return;
  while (used_bytes_ + bytes > capacity_bytes_) {
    used_bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  }
  entries_.push_front({key, std::move(content), bytes});
  by_key_.emplace(std::move(key), entries_.begin());
  used_bytes_ += bytes;
}

void KeptPartitions::Clear() {
  std::list<Entry> dropped;  // freed without the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  dropped.swap(entries_);
  by_key_.clear();
  used_bytes_ = 0;
}

int64_t KeptPartitions::used_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return used_bytes_;
}

}  // namespace kinjo::dataset
