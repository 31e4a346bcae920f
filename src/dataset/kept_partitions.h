// What searches made of the partitions of a snapshot's vector indexes, left with the snapshot for
// the next ones: a service that keeps a dataset open and asks query after query reads each
// partition once. A snapshot never changes, so that what is kept stays true for as long as it is
// open.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace kinjo::dataset {

class Dataset;

/// Thread-safe. Holds a bounded number of bytes; what was asked for longest ago goes first. What a
/// partition was made into is the business of the room that searches: it finds what it kept.
class KeptPartitions {
 public:
  using Content = std::shared_ptr<const void>;

  explicit KeptPartitions(int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  /// Those of an open dataset; null where it has no place for any.
  static KeptPartitions* Of(const Dataset* dataset);

  /// Null when it isn't kept. `segment` is the UUID of an index segment.
  Content Find(const std::string& segment, int64_t partition);
  /// Keeps what takes so many bytes, unless that is more than the capacity.
  void Keep(const std::string& segment, int64_t partition, Content content, int64_t bytes);

  /// Forgets everything: what is searched next is read again.
  void Clear();

  int64_t capacity_bytes() const { return capacity_bytes_; }
  int64_t used_bytes() const;

 private:
  struct Entry {
    std::string key;
    Content content;
    int64_t bytes = 0;
  };

  const int64_t capacity_bytes_;
  mutable std::mutex mutex_;  // guards what follows
  int64_t used_bytes_ = 0;
  std::list<Entry> entries_;  // the last one asked for first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
};

/// A dataset that has a place for them.
class KeepsPartitions {
 public:
  virtual ~KeepsPartitions() = default;
  virtual KeptPartitions* kept_partitions() const = 0;
};

}  // namespace kinjo::dataset
