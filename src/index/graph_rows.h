// The rows of one partition as building a graph sees them: how far one is from others. As they are
// stored, so that a graph leads a search, which compares stored rows too, the right way.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/metric.h"
#include "kernels/node_distance.h"

namespace kinjo::index {

/// A row that others are compared with.
struct GraphQuery {
  uint32_t node = 0;
  std::vector<float> values;  ///< filled where rows are compared as floats
};

/// Immutable; thread-safe.
class GraphRows {
 public:
  virtual ~GraphRows() = default;
  virtual uint32_t num_nodes() const = 0;
  /// Makes `query` stand for a row.
  virtual void Select(uint32_t node, GraphQuery* query) const = 0;
  /// Writes to distances[i] how far row nodes[i] is from the query's row: never NaN, and the same
  /// number for the same pair in any company.
  virtual void Measure(const GraphQuery& query, std::span<const uint32_t> nodes,
                       float* distances) const = 0;
};

/// Rows that are numbers: stored row = start + scale * element.
struct DenseGraphRows {
  const void* rows =
      nullptr;  ///< [num_nodes][dim], aligned to the elements; must outlive the maker
  kernels::NodeElement element = kernels::NodeElement::kFloat;
  uint32_t num_nodes = 0;
  int64_t dim = 0;
  double start = 0;
  double scale = 1;
};

/// l2 compares squared distances, dot negative products. Rows for cosine are unit vectors, or
/// stand for them, and are compared by l2.
std::unique_ptr<GraphRows> MakeDenseGraphRows(const DenseGraphRows& rows, kernels::Metric metric);

/// Rows that are bits: `rows` is [num_nodes][bytes] and must outlive what is returned.
std::unique_ptr<GraphRows> MakeBitGraphRows(const uint8_t* rows, uint32_t num_nodes, int64_t bytes);

}  // namespace kinjo::index
