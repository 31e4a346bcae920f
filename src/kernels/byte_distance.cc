#include "kernels/byte_distance.h"

#include <algorithm>

namespace kinjo::kernels {

namespace {

// At most 65,025 * 16,384 < 2^31. Plain loops of 16-bit differences and products, which every
// compiler turns into the baseline's multiply-and-add of pairs: no level has to be chosen.
constexpr int64_t kBlock = 16384;

int32_t SquaresOfBlock(const uint8_t* a, const uint8_t* b, int64_t count) {
  int32_t sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    const auto difference = static_cast<int16_t>(a[j] - b[j]);
    sum += difference * difference;
  }
  return sum;
}

int32_t ProductsOfBlock(const uint8_t* a, const uint8_t* b, int64_t count) {
  int32_t sum = 0;
  for (int64_t j = 0; j < count; ++j) {
    sum += static_cast<int16_t>(a[j]) * static_cast<int16_t>(b[j]);
  }
  return sum;
}

template <int32_t (*kOfBlock)(const uint8_t*, const uint8_t*, int64_t)>
void SumNodes(const ByteNodes& rows, const uint32_t* nodes, int64_t count, float* out) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t* row = rows.rows + int64_t{nodes[i]} * rows.dim;
    int64_t sum = 0;
    for (int64_t j = 0; j < rows.dim; j += kBlock) {
      sum += kOfBlock(rows.query + j, row + j, std::min(kBlock, rows.dim - j));
    }
    out[i] = static_cast<float>(sum);
  }
}

}  // namespace

void ByteL2(const ByteNodes& rows, const uint32_t* nodes, int64_t count, float* out) {
  SumNodes<SquaresOfBlock>(rows, nodes, count, out);
}

void ByteDot(const ByteNodes& rows, const uint32_t* nodes, int64_t count, float* out) {
  SumNodes<ProductsOfBlock>(rows, nodes, count, out);
}

}  // namespace kinjo::kernels
