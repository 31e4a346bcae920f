// What a search in a graph asks of vectors: how far a few rows of one partition are from one query.
#pragma once

#include <cstdint>
#include <span>

namespace kinjo::index {

/// One query and one partition. Used by one thread.
class NodeScorer {
 public:
  virtual ~NodeScorer() = default;
  /// Writes to distances[i] how far stored row nodes[i] is, on the scale of reported distances, in
  /// float32: good enough to steer by. The same numbers for the same node in any company.
  virtual void Score(std::span<const uint32_t> nodes, float* distances) const = 0;
};

}  // namespace kinjo::index
