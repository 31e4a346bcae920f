// k-modes against brute force, with rows that are few or equal.
#include "index/kmodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "base/assert_result.h"

namespace kinjo::index {
namespace {

constexpr int64_t kBytes = 4;

int Bits(const uint8_t* a, const uint8_t* b) {
  int bits = 0;
  for (int64_t j = 0; j < kBytes; ++j) bits += std::popcount(static_cast<uint8_t>(a[j] ^ b[j]));
  return bits;
}

// Copies of a few patterns with some bits flipped.
std::vector<uint8_t> Noisy(int64_t num_rows, int64_t patterns, int flips) {
  std::mt19937 random(6);
  std::vector<uint8_t> base;
  for (int64_t i = 0; i < patterns * kBytes; ++i) base.push_back(static_cast<uint8_t>(random()));
  std::vector<uint8_t> rows;
  for (int64_t i = 0; i < num_rows; ++i) {
    const auto from = base.begin() + i % patterns * kBytes;
    rows.insert(rows.end(), from, from + kBytes);
    for (int f = 0; f < flips; ++f) {
      rows[i * kBytes + static_cast<int64_t>(random() % kBytes)] ^=
          static_cast<uint8_t>(1u << random() % 8);
    }
  }
  return rows;
}

TEST(KModes, FindsThePatterns) {
  const std::vector<uint8_t> rows = Noisy(2000, 6, 2);
  base::ThreadPool one(1);
  base::ThreadPool pool(3);
  KINJO_ASSERT_RESULT(trained, TrainKModes(rows.data(), 2000, kBytes, {.num_clusters = 6},
                                           {.pool = &pool, .cancel = {}, .progress = {}}));
  KINJO_ASSERT_RESULT(alone, TrainKModes(rows.data(), 2000, kBytes, {.num_clusters = 6},
                                         {.pool = &one, .cancel = {}, .progress = {}}));
  EXPECT_EQ(trained.centroids, alone.centroids);
  EXPECT_LE(trained.cost, 2);
  double cost = 0;
  for (int64_t i = 0; i < 2000; ++i) {
    int least = 8 * kBytes;
    for (int64_t c = 0; c < 6; ++c) {
      least =
          std::min(least, Bits(rows.data() + i * kBytes, trained.centroids.data() + c * kBytes));
    }
    cost += least;
  }
  EXPECT_NEAR(trained.cost, cost / 2000, 1e-9);
}

TEST(KModes, FewerRowsThanClusters) {
  base::ThreadPool pool(2);
  const BuildContext context{.pool = &pool, .cancel = {}, .progress = {}};
  for (const int64_t num_rows : {1, 3, 100}) {
    const std::vector<uint8_t> rows = Noisy(num_rows, 3, 0);
    KINJO_ASSERT_RESULT(trained,
                        TrainKModes(rows.data(), num_rows, kBytes, {.num_clusters = 8}, context));
    EXPECT_EQ(trained.cost, 0);
    EXPECT_EQ(std::count(trained.sizes.begin(), trained.sizes.end(), 0),
              8 - std::min<int64_t>(num_rows, 3));
    EXPECT_EQ(trained.centroids.size(), 8u * kBytes);
  }
}

TEST(KModes, StopsWhenCancelled) {
  base::ThreadPool pool(2);
  const std::vector<uint8_t> rows = Noisy(500, 6, 2);
  BuildContext context{.pool = &pool, .cancel = {}, .progress = {}};
  context.cancel.Cancel();
  EXPECT_FALSE(TrainKModes(rows.data(), 500, kBytes, {.num_clusters = 6}, context).ok());
}

}  // namespace
}  // namespace kinjo::index
