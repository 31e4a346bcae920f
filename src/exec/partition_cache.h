// Partitions that were read and resolved, kept while they fit: a partition that a second round or
// the next query block wants again isn't read twice.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "format/index_file/index_files.h"

namespace kinjo::exec {

/// One partition as stored, with the address of each row (dataset::kDeadRow for rows that aren't
/// live).
struct LoadedPartition {
  format::PartitionRows stored;
  std::vector<uint64_t> addresses;
  format::PartitionGraph graph;  ///< over the stored rows; empty where the index has none
  int64_t live_rows = 0;
  /// True where it has rows and none that may match: nothing else is set.
  bool is_skipped = false;

  int64_t size_bytes() const;
};

/// Thread-safe. Keeps what comes first, up to a size; evicts nothing.
class PartitionCache {
 public:
  explicit PartitionCache(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Null when it isn't kept. `segment` numbers the segments of the run.
  std::shared_ptr<const LoadedPartition> Find(size_t segment, int64_t partition) const;
  void Keep(size_t segment, int64_t partition, std::shared_ptr<const LoadedPartition> loaded);

  int64_t capacity_bytes() const { return capacity_bytes_; }
  /// What still fits.
  int64_t room_bytes() const;

 private:
  static uint64_t Key(size_t segment, int64_t partition) {
    return (static_cast<uint64_t>(segment) << 40) | static_cast<uint64_t>(partition);
  }

  const int64_t capacity_bytes_;
  mutable std::mutex mutex_;
  int64_t used_bytes_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<const LoadedPartition>> kept_;
};

}  // namespace kinjo::exec
