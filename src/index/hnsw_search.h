// The search in the graph of one partition, as Lance does it: greedily down the upper levels, then
// a beam on level 0. Knows nothing of vectors but their distances.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "format/index_file/graph_model.h"
#include "index/node_scorer.h"

namespace kinjo::index {

/// What is searched, and for what.
struct HnswQuery {
  const format::PartitionGraph* graph = nullptr;
  const NodeScorer* scorer = nullptr;
  /// Of each node. Those that are `dead` are walked over and not found.
  std::span<const uint64_t> addresses;
  uint64_t dead = 0;
  int64_t live_nodes = 0;  ///< entries of `addresses` that aren't `dead`
  int64_t ef = 1;          ///< nodes that the beam holds
  /// Nodes nearer or farther are walked over and not found.
  float lower = -std::numeric_limits<float>::infinity();
  float maximum = std::numeric_limits<float>::infinity();
};

/// Searches one graph after another; keeps its buffers. One thread.
class HnswSearcher {
 public:
  /// Writes to `found` the live nodes that the beam holds at its end, at most `ef`, nearest first
  /// (by distance, then id). When the beam ran dry before it was full, the live nodes that no edge
  /// leads to follow, whatever their distance: a graph never hides a row. What is found depends on
  /// the query alone.
  void Search(const HnswQuery& query, std::vector<uint32_t>* found);

  /// Live nodes nearer than `lower` that the last search walked over.
  int64_t nearer() const { return nearer_; }
  /// Distances computed so far.
  int64_t comparisons() const { return comparisons_; }
  /// The most that the buffers take for partitions of `nodes` rows.
  static int64_t SizeBytes(int64_t nodes);

 private:
  uint64_t Descend(const HnswQuery& query);
  void Beam(const HnswQuery& query, uint64_t start);
  void Visit(const HnswQuery& query, uint32_t node, float distance);
  /// Distance of the worst result; +inf without any.
  float Furthest() const;
  void ScoreNodes(const HnswQuery& query, std::span<const uint32_t> nodes);
  void AppendUnreached(const HnswQuery& query, std::vector<uint32_t>* found) const;

  std::vector<uint32_t> visited_;  // of each node, the number of the search that saw it last
  uint32_t search_ = 0;
  int64_t live_visited_ = 0;
  int64_t nearer_ = 0;
  std::vector<uint64_t> candidates_;  // min-heap of keys: nodes whose neighbours weren't looked at
  std::vector<uint64_t> results_;     // max-heap of keys
  std::vector<uint32_t> fresh_;
  std::vector<float> distances_;
  int64_t comparisons_ = 0;
};

}  // namespace kinjo::index
