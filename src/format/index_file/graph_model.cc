#include "format/index_file/graph_model.h"

#include <algorithm>

namespace kinjo::format {

std::span<const uint32_t> PartitionGraph::neighbors(size_t level, uint32_t node) const {
  const GraphLevel& at = levels[level];
  if (level == 0) return at.neighbors_at(node);
  const auto found = std::lower_bound(at.nodes.begin(), at.nodes.end(), node);
  if (found == at.nodes.end() || *found != node) return {};
  return at.neighbors_at(static_cast<size_t>(found - at.nodes.begin()));
}

int64_t PartitionGraph::size_bytes() const {
  size_t bytes = sizeof(*this) + levels.capacity() * sizeof(GraphLevel);
  for (const GraphLevel& level : levels) {
    bytes += (level.nodes.capacity() + level.offsets.capacity() + level.neighbors.capacity()) *
             sizeof(uint32_t);
  }
  return static_cast<int64_t>(bytes);
}

}  // namespace kinjo::format
