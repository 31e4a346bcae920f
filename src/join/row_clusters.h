// Connected components of the pairs of a self-join: who is within reach of whom, directly or over
// others. What a deduplication needs.
#pragma once

#include <cstdint>
#include <deque>

namespace kinjo::join {

/// A forest over the rows of the left side, named by their ordinals. The root of a cluster is its
/// smallest row, so a cluster is named the same whatever the order of the pairs. One thread.
class RowClusters {
 public:
  /// Every row a cluster of its own.
  explicit RowClusters(int64_t rows) { Grow(rows); }

  int64_t num_rows() const { return static_cast<int64_t>(parents_.size()); }
  int64_t num_clusters() const { return num_clusters_; }

  /// Adds rows, each a cluster of its own, until there are `rows`, if there are fewer.
  void Grow(int64_t rows);
  /// Makes the clusters of two rows one.
  void Unite(uint32_t a, uint32_t b);
  /// The smallest row of the cluster of `row`.
  uint32_t Find(uint32_t row);

  static int64_t SizeBytes(int64_t rows) { return rows * 4 + rows / 4 + 4096; }

 private:
  // Of each row, never above it. In a deque, which grows without a copy.
  std::deque<uint32_t> parents_;
  int64_t num_clusters_ = 0;
};

}  // namespace kinjo::join
