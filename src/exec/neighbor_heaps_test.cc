#include "exec/neighbor_heaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/thread_pool.h"

namespace kinjo::exec {
namespace {

using kernels::Neighbor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(NeighborHeaps, KeepsTheBestWhateverTheOrderAndThreads) {
  std::mt19937 random(3);
  std::vector<Neighbor> rows;
  for (uint64_t address = 0; address < 2000; ++address) {
    rows.push_back({static_cast<float>(random() % 50), address});
  }
  auto sorted = rows;
  std::sort(sorted.begin(), sorted.end());
  sorted.resize(25);
  base::ThreadPool pool(4);
  for (int run = 0; run < 5; ++run) {
    std::shuffle(rows.begin(), rows.end(), random);
    NeighborHeaps heaps;
    heaps.Reset(2, 25, {});
    ASSERT_TRUE(pool.ParallelFor(static_cast<int64_t>(rows.size()), {},
                                 [&](int64_t i, int) {
                                   heaps.Push(1, rows[i]);
                                   return arrow::Status::OK();
                                 })
                    .ok());
    EXPECT_EQ(heaps.threshold(1), sorted.back().distance);
    EXPECT_EQ(heaps.threshold(0), kInfinity);
    const auto kept = heaps.TakeSorted(1);
    ASSERT_EQ(kept.size(), 25u);
    for (size_t i = 0; i < 25; ++i) EXPECT_EQ(kept[i].address, sorted[i].address);
  }
}

TEST(NeighborHeaps, RangeIsHalfOpenAndNanIsPassedOver) {
  NeighborHeaps heaps;
  heaps.Reset(1, 3, DistanceRange::HalfOpen(1.0f, 2.0f));
  for (const float distance : {0.5f, 1.0f, 2.0f, std::numeric_limits<float>::quiet_NaN()}) {
    heaps.Push(0, {distance, 7});
  }
  EXPECT_LT(heaps.threshold(0), 2.0f);
  EXPECT_EQ(heaps.nearer_than_range(0), 1);
  const auto kept = heaps.TakeSorted(0);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].distance, 1.0f);
}

TEST(NeighborHeaps, InfiniteDistancesAreKept) {
  NeighborHeaps heaps;
  heaps.Reset(1, 2, {});
  heaps.Push(0, {kInfinity, 5});
  heaps.Push(0, {kInfinity, 4});
  heaps.Push(0, {kInfinity, 3});
  const auto kept = heaps.TakeSorted(0);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].address, 3u);
  EXPECT_EQ(kept[1].address, 4u);
}

TEST(NeighborHeaps, AThresholdOnlyFalls) {
  NeighborHeaps heaps;
  heaps.Reset(1, 2, {});
  EXPECT_TRUE(heaps.filling(0));
  heaps.LowerThreshold(0, 5.0f);
  EXPECT_FALSE(heaps.filling(0));
  heaps.LowerThreshold(0, 7.0f);
  EXPECT_EQ(heaps.threshold(0), 5.0f);
  for (const float distance : {6.0f, 5.0f, 4.0f, 3.0f}) heaps.Push(0, {distance, 1});
  EXPECT_EQ(heaps.threshold(0), 4.0f);
  EXPECT_EQ(heaps.size(0), 2);
}

TEST(NeighborHeaps, ResetForgetsTheLastBlock) {
  NeighborHeaps heaps;
  heaps.Reset(3, 1, {});
  heaps.Push(2, {1.0f, 1});
  heaps.Reset(3, 2, {});
  EXPECT_EQ(heaps.size(2), 0);
  EXPECT_EQ(heaps.threshold(2), kInfinity);
  EXPECT_TRUE(heaps.TakeSorted(2).empty());
}

}  // namespace
}  // namespace kinjo::exec
