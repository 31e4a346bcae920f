// The neighbour graph of one partition, in memory: levels of nodes and their neighbours, all ids
// checked, so that a search may follow edges without looking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kinjo::format {

/// One level of a graph: the neighbours of the i-th node are neighbors[offsets[i], offsets[i + 1]).
struct GraphLevel {
  std::vector<uint32_t> nodes;  ///< rising; empty on level 0, where node i is the i-th
  std::vector<uint32_t> offsets;
  std::vector<uint32_t> neighbors;

  std::span<const uint32_t> neighbors_at(size_t position) const {
    return {neighbors.data() + offsets[position], offsets[position + 1] - offsets[position]};
  }
};

/// The graph of one partition. A node is a stored row, by its position in the partition. Every id
/// below is less than num_nodes.
struct PartitionGraph {
  uint32_t num_nodes = 0;
  uint32_t entry_point = 0;        ///< where searches start; meaningless in an empty graph
  std::vector<GraphLevel> levels;  ///< level 0 first; at least that one unless the graph is empty

  /// The neighbours of a node; none where it isn't on the level.
  std::span<const uint32_t> neighbors(size_t level, uint32_t node) const;
  int64_t size_bytes() const;
};

}  // namespace kinjo::format
