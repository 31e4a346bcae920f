#include "io/descriptor_cache.h"

#include <unistd.h>

#include <utility>

namespace kinjo::io {

namespace {
// A quarter of the usual limit of 1,024: the host process has files of its own.
constexpr size_t kMaxOpenFiles = 256;
}  // namespace

Descriptor::~Descriptor() { ::close(number_); }

DescriptorCache& DescriptorCache::Process() {
  static auto* cache = new DescriptorCache(kMaxOpenFiles);  // readers may outlive statics
  return *cache;
}

std::shared_ptr<Descriptor> DescriptorCache::Find(Owner owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(owner);
  if (found == places_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->descriptor;
}

void DescriptorCache::Put(Owner owner, std::shared_ptr<Descriptor> descriptor) {
  std::shared_ptr<Descriptor> dropped;  // closed after the lock was given back
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(owner);
  if (found != places_.end()) {
    dropped = std::exchange(found->second->descriptor, std::move(descriptor));
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  entries_.push_front({owner, std::move(descriptor)});
  places_.emplace(owner, entries_.begin());
  if (entries_.size() <= capacity_) return;
  dropped = std::move(entries_.back().descriptor);
  places_.erase(entries_.back().owner);
  entries_.pop_back();
}

void DescriptorCache::Remove(Owner owner) {
  std::shared_ptr<Descriptor> dropped;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = places_.find(owner);
  if (found == places_.end()) return;
  dropped = std::move(found->second->descriptor);
  entries_.erase(found->second);
  places_.erase(found);
}

}  // namespace kinjo::io
