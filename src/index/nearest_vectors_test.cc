// Nearest vectors against the canonical distance of all of them, with ties to the first, at every
// SIMD level.
#include "index/nearest_vectors.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "kernels/every_simd_level.h"

namespace kinjo::index {
namespace {

template <typename T>
std::vector<T> Random(int64_t count, uint32_t seed, double offset = 0, double step = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) {
    double value = normal(random);
    if (step > 0) value = std::round(value / step) * step;
    values.push_back(static_cast<T>(value + offset));
  }
  return values;
}

template <typename T>
std::vector<uint32_t> FindAll(const NearestVectors<T>& nearest, const std::vector<T>& rows,
                              int64_t dim) {
  std::vector<uint32_t> found(rows.size() / static_cast<size_t>(dim));
  nearest.Find(rows.data(), dim, static_cast<int64_t>(found.size()), found.data());
  return found;
}

template <typename T>
std::vector<uint32_t> BruteForce(const NearestVectors<T>& nearest, const std::vector<T>& rows,
                                 const std::vector<T>& vectors, int64_t dim) {
  std::vector<uint32_t> found;
  for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(dim)) {
    uint32_t best = 0;
    for (uint32_t v = 1; v < vectors.size() / static_cast<size_t>(dim); ++v) {
      if (nearest.Distance(rows.data() + at, v) < nearest.Distance(rows.data() + at, best)) {
        best = v;
      }
    }
    found.push_back(best);
  }
  return found;
}

template <typename T>
void CheckAll(const std::vector<T>& rows, const std::vector<T>& vectors, int64_t dim,
              Nearness nearness) {
  const NearestVectors<T> reference(vectors, dim, nearness);
  const std::vector<uint32_t> expected = BruteForce(reference, rows, vectors, dim);
  ASSERT_TRUE(kernels::AtEverySimdLevel([&](const std::string& level) {
    const NearestVectors<T> nearest(vectors, dim, nearness);
    EXPECT_EQ(FindAll(nearest, rows, dim), expected) << level << " dim " << dim;
  }));
}

TEST(NearestVectors, AgreeWithEveryDistance) {
  for (const int64_t dim : {1, 3, 8, 50}) {
    for (const int64_t count : {1, 16, 200}) {
      for (const Nearness nearness : {Nearness::kL2, Nearness::kDot}) {
        CheckAll(Random<float>(300 * dim, 1), Random<float>(count * dim, 2), dim, nearness);
        CheckAll(Random<double>(300 * dim, 3), Random<double>(count * dim, 4), dim, nearness);
      }
    }
  }
}

// Elements on a grid: many vectors are equally near, and some are equal.
TEST(NearestVectors, TiesGoToTheFirst) {
  for (const int64_t dim : {1, 2, 8}) {
    CheckAll(Random<float>(400 * dim, 5, 0, 0.5), Random<float>(64 * dim, 6, 0, 0.5), dim,
             Nearness::kL2);
    CheckAll(Random<double>(400 * dim, 7, 0, 0.5), Random<double>(64 * dim, 8, 0, 0.5), dim,
             Nearness::kDot);
  }
}

TEST(NearestVectors, FarFromTheOriginNothingIsLost) {
  CheckAll(Random<float>(300 * 8, 9, 1e5), Random<float>(100 * 8, 10, 1e5), 8, Nearness::kL2);
  CheckAll(Random<double>(300 * 8, 11, 1e12), Random<double>(100 * 8, 12, 1e12), 8, Nearness::kL2);
}

TEST(NearestVectors, MagnitudesBeyondFloatSumsAreRight) {
  std::vector<float> rows = Random<float>(50 * 4, 13);
  std::vector<float> vectors = Random<float>(20 * 4, 14);
  for (float& value : rows) value *= 1e25f;
  for (float& value : vectors) value *= 1e25f;
  CheckAll(rows, vectors, 4, Nearness::kL2);
  for (float& value : rows) value *= 1e-25f * 1e-25f;
  for (float& value : vectors) value *= 1e-25f * 1e-25f;
  CheckAll(rows, vectors, 4, Nearness::kL2);
}

TEST(NearestVectors, NothingIsNearToWhatIsNotFinite) {
  std::vector<float> vectors = Random<float>(10 * 4, 15);
  vectors[0] = std::numeric_limits<float>::quiet_NaN();
  vectors[7 * 4] = std::numeric_limits<float>::infinity();
  const NearestVectors<float> nearest(vectors, 4, Nearness::kL2);
  const std::vector<float> rows = Random<float>(100 * 4, 16);
  for (const uint32_t found : FindAll(nearest, rows, 4)) {
    EXPECT_NE(found, 0u);
    EXPECT_NE(found, 7u);
  }
}

TEST(NearestVectors, RowsMayLieApart) {
  const std::vector<float> vectors = Random<float>(30 * 4, 17);
  const std::vector<float> rows = Random<float>(90 * 12, 18);
  const NearestVectors<float> nearest(vectors, 4, Nearness::kL2);
  std::vector<uint32_t> found(90);
  nearest.Find(rows.data() + 4, 12, 90, found.data());
  std::vector<float> packed;
  for (int64_t i = 0; i < 90; ++i) {
    packed.insert(packed.end(), rows.begin() + i * 12 + 4, rows.begin() + i * 12 + 8);
  }
  EXPECT_EQ(found, FindAll(nearest, packed, 4));
}

}  // namespace
}  // namespace kinjo::index
