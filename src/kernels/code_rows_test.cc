#include "kernels/code_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

constexpr int64_t kDims[] = {1, 3, 8, 15, 16, 17, 31, 32, 50, 128};

/// What SetRow makes of plain arithmetic: `plain[row]` are the doubles that the codes stand for.
void ExpectRows(const std::vector<std::vector<double>>& plain, int64_t group, bool dot,
                const GroupedRows& got) {
  const int64_t dim = got.dim();
  GroupedRows want;
  want.Reset(got.num_rows(), dim);
  std::vector<float> one(static_cast<size_t>(dim)), other(static_cast<size_t>(dim));
  for (size_t row = 0; row < plain.size(); ++row) {
    const int64_t slot = group * kGroupRows + static_cast<int64_t>(row);
    want.SetRow(slot, plain[row].data(), nullptr, dot);
    want.GetRow(slot, one.data());
    got.GetRow(slot, other.data());
    EXPECT_EQ(std::memcmp(one.data(), other.data(), one.size() * sizeof(float)), 0);
    EXPECT_EQ(std::memcmp(want.init() + slot, got.init() + slot, sizeof(float)), 0);
  }
}

TEST(CodeRows, BytesBecomeTheBitsOfPlainArithmeticAtEveryLevel) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (const int64_t dim : kDims) {
      for (const int64_t count : {16, 5}) {
        SCOPED_TRACE(level + " width " + std::to_string(dim));
        std::vector<std::vector<uint8_t>> bytes(kGroupRows);
        std::vector<const uint8_t*> rows;
        for (auto& row : bytes) {
          for (int64_t j = 0; j < dim; ++j) row.push_back(static_cast<uint8_t>(random()));
          rows.push_back(row.data());
        }
        std::vector<double> centre(static_cast<size_t>(dim));
        for (double& value : centre) value = static_cast<double>(random() % 256);
        const double start = normal(random), step = normal(random) / 100;
        std::vector<std::vector<double>> plain(static_cast<size_t>(count));
        for (int64_t row = 0; row < count; ++row) {
          for (int64_t j = 0; j < dim; ++j) {
            plain[row].push_back(start + (bytes[row][j] - centre[j]) * step);
          }
        }
        for (const bool dot : {false, true}) {
          GroupedRows got;
          got.Reset(kGroupRows + count, dim);
          StoreByteRows({rows.data(), centre.data(), start, step}, 1, count, dot, &got);
          ExpectRows(plain, 1, dot, got);
        }
      }
    }
  }));
}

TEST(CodeRows, ScaledRowsBecomeTheBitsOfPlainArithmeticAtEveryLevel) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    for (const int64_t dim : kDims) {
      for (const bool has_centre : {false, true}) {
        SCOPED_TRACE(level + " width " + std::to_string(dim));
        const int64_t stride = dim + 3;
        std::vector<float> rows(static_cast<size_t>(kGroupRows * stride));
        for (float& value : rows) value = static_cast<float>(random() % 511) - 255;
        std::vector<double> scales(kGroupRows), terms(kGroupRows);
        std::vector<double> centre(static_cast<size_t>(dim));
        for (auto* values : {&scales, &terms, &centre}) {
          for (double& value : *values) value = normal(random);
        }
        std::vector<std::vector<double>> plain(kGroupRows);
        for (int64_t row = 0; row < kGroupRows; ++row) {
          for (int64_t j = 0; j < dim; ++j) {
            const double scaled = scales[row] * rows[row * stride + j];
            plain[row].push_back(has_centre ? terms[row] * centre[j] + scaled : scaled);
          }
        }
        GroupedRows got;
        got.Reset(kGroupRows, dim);
        StoreScaledRows({rows.data(), stride, scales.data(), terms.data(),
                         has_centre ? centre.data() : nullptr},
                        0, kGroupRows, has_centre, &got);
        ExpectRows(plain, 0, has_centre, got);
      }
    }
  }));
}

TEST(CodeRows, SignedCodesAreDoubledExactlyAtEveryLevel) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    std::mt19937_64 random(3);
    for (int ex_bits = 0; ex_bits <= 8; ++ex_bits) {
      SCOPED_TRACE(level + " bits " + std::to_string(ex_bits));
      constexpr int64_t kCount = 64;
      std::vector<uint8_t> signs(kCount / 8), values(kCount);
      for (uint8_t& byte : signs) byte = static_cast<uint8_t>(random());
      for (uint8_t& value : values) value = static_cast<uint8_t>(random() % (1u << ex_bits));
      std::vector<float> out(kCount + 1, 7.5f);
      DoubleSignedCodes(signs.data(), values.data(), ex_bits, kCount, out.data());
      for (int64_t i = 0; i < kCount; ++i) {
        const int code = (signs[i / 8] >> (i % 8) & 1) << ex_bits | values[i];
        EXPECT_EQ(out[i], 2 * code - ((2 << ex_bits) - 1));
      }
      EXPECT_EQ(out[kCount], 7.5f);
    }
  }));
}

}  // namespace
}  // namespace kinjo::kernels
