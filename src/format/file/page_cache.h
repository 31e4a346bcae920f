// What pages keep between two reads (indexes, dictionaries, decompressed buffers): made once,
// within a bound on memory, whichever rows are read and however often.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace kinjo::format {

/// What one page keeps. Immutable once made; thread-safe.
struct PageState {
  virtual ~PageState() = default;
  uint64_t bytes = 0;  ///< of memory that it holds, about
};

/// The states of many pages, of all files of a dataset for one. Those used longest ago go first.
/// Thread-safe.
class PageCache {
 public:
  static constexpr uint64_t kCapacityBytes = 32 << 20;

  explicit PageCache(uint64_t capacity_bytes = kCapacityBytes) : capacity_bytes_(capacity_bytes) {}

  /// Numbers for `count` pages, the first of them. No number is given twice.
  uint64_t NumberPages(uint64_t count) { return next_page_.fetch_add(count); }

  /// The state of a page; null when it isn't here any more.
  std::shared_ptr<const PageState> Find(uint64_t page);
  /// Takes a state that was just made. One larger than the capacity isn't kept: false then.
  bool Keep(uint64_t page, std::shared_ptr<const PageState> state);

  uint64_t kept_bytes() const;
  /// States made so far: what Keep was called with.
  uint64_t states_made() const { return states_made_.load(); }

 private:
  struct Entry {
    uint64_t page = 0;
    std::shared_ptr<const PageState> state;
  };

  const uint64_t capacity_bytes_;
  std::atomic<uint64_t> next_page_{0};
  std::atomic<uint64_t> states_made_{0};
  mutable std::mutex mutex_;
  uint64_t kept_bytes_ = 0;
  std::list<Entry> entries_;  // the last used first
  std::unordered_map<uint64_t, std::list<Entry>::iterator> by_page_;
};

/// The states too large for a cache that one scan holds from one read to the next: of each column
/// that of the page read last, which the next read begins with. Not thread-safe.
class PagesAtHand {
 public:
  /// Null when another page of the column, or none, is at hand. `column` is the number of the
  /// column's first page, `page` that of one of them, in the cache of both.
  std::shared_ptr<const PageState> Find(uint64_t column, uint64_t page) const;
  void Hold(uint64_t column, uint64_t page, std::shared_ptr<const PageState> state) {
    by_column_[column] = {page, std::move(state)};
  }
  /// Lets go of everything: the scan goes on to other columns.
  void Clear() { by_column_.clear(); }

 private:
  struct Entry {
    uint64_t page = 0;
    std::shared_ptr<const PageState> state;
  };

  std::unordered_map<uint64_t, Entry> by_column_;
};

}  // namespace kinjo::format
