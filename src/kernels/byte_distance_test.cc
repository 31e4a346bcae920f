#include "kernels/byte_distance.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace kinjo::kernels {
namespace {

TEST(ByteDistance, IsThatOfWholeNumbers) {
  std::mt19937_64 random(1);
  for (const int64_t dim : {1, 7, 8, 31, 32, 33, 64, 100, 128, 257, 40000}) {
    const uint32_t count = dim > 1000 ? 3 : 20;
    std::vector<uint8_t> rows(static_cast<size_t>(count * dim));
    for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random());
    // The largest sums there can be.
    std::fill_n(rows.begin(), dim, uint8_t{255});
    std::fill_n(rows.begin() + dim, dim, uint8_t{0});
    const std::vector<uint32_t> nodes = {1, 0, count - 1};
    std::vector<float> l2(nodes.size());
    std::vector<float> dot(nodes.size());
    ByteL2({rows.data(), rows.data(), dim}, nodes.data(), 3, l2.data());
    ByteDot({rows.data(), rows.data(), dim}, nodes.data(), 3, dot.data());
    for (size_t i = 0; i < nodes.size(); ++i) {
      int64_t expected_l2 = 0;
      int64_t expected_dot = 0;
      for (int64_t j = 0; j < dim; ++j) {
        const int64_t a = rows[static_cast<size_t>(j)];
        const int64_t b = rows[static_cast<size_t>(nodes[i] * dim + j)];
        expected_l2 += (a - b) * (a - b);
        expected_dot += a * b;
      }
      EXPECT_EQ(l2[i], static_cast<float>(expected_l2)) << dim;
      EXPECT_EQ(dot[i], static_cast<float>(expected_dot)) << dim;
    }
  }
}

}  // namespace
}  // namespace kinjo::kernels
