#include "format/file/page_cache.h"

#include <utility>

namespace kinjo::format {

std::shared_ptr<const PageState> PageCache::Find(uint64_t page) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_page_.find(page);
  if (found == by_page_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->state;
}

bool PageCache::Keep(uint64_t page, std::shared_ptr<const PageState> state) {
  states_made_.fetch_add(1);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (state->bytes > capacity_bytes_) return false;
  if (by_page_.contains(page)) return true;
  while (kept_bytes_ > capacity_bytes_ - state->bytes) {
    kept_bytes_ -= entries_.back().state->bytes;
    by_page_.erase(entries_.back().page);
    entries_.pop_back();
  }
  kept_bytes_ += state->bytes;
  entries_.push_front({page, std::move(state)});
  by_page_.emplace(page, entries_.begin());
  return true;
}

uint64_t PageCache::kept_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kept_bytes_;
}

std::shared_ptr<const PageState> PagesAtHand::Find(uint64_t column, uint64_t page) const {
  const auto found = by_column_.find(column);
  if (found == by_column_.end() || found->second.page != page) return nullptr;
  return found->second.state;
}

}  // namespace kinjo::format
