#include "kernels/node_distance.h"

#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/every_simd_level.h"

namespace kinjo::kernels {
namespace {

constexpr int kLanes = 32;

float Tree(float* lane) {
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}

// The contract in the plainest words.
float PlainL2(const float* query, const std::vector<float>& row) {
  float lane[kLanes] = {};
  for (size_t j = 0; j < row.size(); ++j) {
    const float difference = query[j] - row[j];
    const float square = difference * difference;
    lane[j % kLanes] += square;
  }
  return Tree(lane);
}
float PlainDot(const float* query, const std::vector<float>& row) {
  float lane[kLanes] = {};
  for (size_t j = 0; j < row.size(); ++j) {
    const float product = query[j] * row[j];
    lane[j % kLanes] += product;
  }
  return Tree(lane);
}

// A float16 that holds the value exactly: whole numbers up to 2048 and halves of them.
uint16_t HalfOf(float value) {
  if (value == 0) return 0;
  int exponent = 0;
  const float fraction = std::frexp(std::abs(value), &exponent);
  const auto digits = static_cast<uint16_t>(std::lround(fraction * 2048)) & 1023;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | digits);
}

/// Rows in the three forms; values that all of them hold.
struct Rows {
  int64_t dim;
  std::vector<std::vector<float>> rows;
  std::vector<float> floats;
  std::vector<uint16_t> halves;
  std::vector<uint8_t> bytes;

  Rows(int64_t width, int count, uint64_t seed) : dim(width) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<int> values(0, 255);
    for (int i = 0; i < count; ++i) {
      rows.emplace_back();
      for (int64_t j = 0; j < dim; ++j) {
        const auto value = static_cast<float>(values(random));
        rows.back().push_back(value);
        floats.push_back(value);
        halves.push_back(HalfOf(value));
        bytes.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  NodeRows As(NodeElement element, const float* query) const {
    const void* data = element == NodeElement::kFloat  ? static_cast<const void*>(floats.data())
                       : element == NodeElement::kHalf ? static_cast<const void*>(halves.data())
                                                       : bytes.data();
    return {query, data, element, dim};
  }
};

std::vector<float> RandomQuery(int64_t dim) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal(100, 50);
  std::vector<float> query(static_cast<size_t>(dim));
  for (float& value : query) value = normal(random);
  return query;
}

uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

void ExpectPlainSums(int64_t dim) {
  const Rows rows(dim, 6, 11);
  const std::vector<float> query = RandomQuery(dim);
  const std::vector<uint32_t> nodes = {4, 0, 5, 5};
  std::vector<float> out(nodes.size());
  for (const NodeElement element : {NodeElement::kFloat, NodeElement::kHalf, NodeElement::kByte}) {
    const NodeRows as = rows.As(element, query.data());
    NodeL2(as, nodes.data(), 4, out.data());
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(Bits(out[i]), Bits(PlainL2(query.data(), rows.rows[nodes[i]]))) << dim;
    }
    NodeDot(as, nodes.data(), 4, out.data());
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(Bits(out[i]), Bits(PlainDot(query.data(), rows.rows[nodes[i]]))) << dim;
    }
    if (element == NodeElement::kByte) continue;
    NodeCosine(as, nodes.data(), 4, out.data());
    for (size_t i = 0; i < nodes.size(); ++i) {
      const std::vector<float>& row = rows.rows[nodes[i]];
      const float expected = PlainDot(query.data(), row) / std::sqrt(PlainDot(row.data(), row));
      EXPECT_EQ(Bits(out[i]), Bits(expected)) << dim;
    }
  }
}

TEST(NodeDistance, SameBitsAsThePlainLanesAtEveryLevelAndWidth) {
  EXPECT_TRUE(AtEverySimdLevel([](const std::string& level) {
    SCOPED_TRACE(level);
    for (int64_t dim = 1; dim <= 131; ++dim) ExpectPlainSums(dim);
    for (const int64_t dim : {768, 1000, 1536}) ExpectPlainSums(dim);
  }));
}

TEST(NodeDistance, ASmallRowOfHalvesIsNotFlushed) {
  const std::vector<float> query(33, 1.0f);
  const std::vector<uint16_t> tiny(33, 1);  // the smallest float16, 2^-24
  EXPECT_TRUE(AtEverySimdLevel([&](const std::string& level) {
    SCOPED_TRACE(level);
    const uint32_t node = 0;
    float out = 0;
    NodeDot({query.data(), tiny.data(), NodeElement::kHalf, 33}, &node, 1, &out);
    EXPECT_EQ(out, 33 * 0x1p-24f);
  }));
}

TEST(NodeDistance, TheCosineOfTheZeroRowIsNotANumber) {
  const std::vector<float> query(5, 1.0f);
  const std::vector<float> zero(5, 0.0f);
  const uint32_t node = 0;
  float out = 0;
  NodeCosine({query.data(), zero.data(), NodeElement::kFloat, 5}, &node, 1, &out);
  EXPECT_TRUE(std::isnan(out));
}

}  // namespace
}  // namespace kinjo::kernels
