// float32 distances of one query to a few rows that lie scattered: what a search in a graph steers
// by. Rounded, so they order nothing that is reported (canonical_distance.h does), but rounded the
// same way at every SIMD level: 32 lanes and a fixed tree, without contraction.
#pragma once

#include <cstdint>

namespace kinjo::kernels {

/// Elements of the rows. Halves are the bits of float16; bytes count 0 to 255. Widening is exact.
enum class NodeElement : uint8_t { kFloat, kHalf, kByte };

/// The query [dim] and rows [any][dim], row-major and aligned to their elements. out[i] belongs to
/// row nodes[i].
struct NodeRows {
  const float* query;
  const void* rows;
  NodeElement element;
  int64_t dim;
};

/// Sum of (query - row)^2.
void NodeL2(const NodeRows& rows, const uint32_t* nodes, int64_t count, float* out);
/// Sum of query * row.
void NodeDot(const NodeRows& rows, const uint32_t* nodes, int64_t count, float* out);
/// Sum of query * row, divided by the row's length; NaN for the zero row. Not for bytes.
void NodeCosine(const NodeRows& rows, const uint32_t* nodes, int64_t count, float* out);

}  // namespace kinjo::kernels
