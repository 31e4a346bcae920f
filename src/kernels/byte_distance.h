// Distances between rows of bytes that lie scattered: what building a graph over scalar-quantized
// rows spends its time on. Whole numbers, so exact, in any order.
#pragma once

#include <cstdint>

namespace kinjo::kernels {

/// Rows [any][dim]; the query is one of them or another. out[i] belongs to row nodes[i].
struct ByteNodes {
  const uint8_t* query;
  const uint8_t* rows;
  int64_t dim;
};

/// Sum of (query - row)^2, rounded to float where that doesn't hold it.
void ByteL2(const ByteNodes& rows, const uint32_t* nodes, int64_t count, float* out);
/// Sum of query * row, the same.
void ByteDot(const ByteNodes& rows, const uint32_t* nodes, int64_t count, float* out);

}  // namespace kinjo::kernels
