#include "kernels/top_k.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace kinjo::kernels {
namespace {

std::vector<uint64_t> Addresses(TopK top) {
  std::vector<uint64_t> addresses;
  for (const Neighbor& neighbor : top.TakeSorted()) addresses.push_back(neighbor.address);
  return addresses;
}

TEST(TopK, KeepsTheNearestWithTiesByAddressInAnyOrderOfPushes) {
  std::mt19937_64 random(5);
  std::vector<Neighbor> all;
  for (uint64_t address = 0; address < 200; ++address) {
    all.push_back({static_cast<float>(random() % 20), address});
  }
  std::vector<Neighbor> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t k : {1, 7, 60, 199, 200, 300}) {
    for (int round = 0; round < 5; ++round) {
      std::shuffle(all.begin(), all.end(), random);
      TopK top(k);
      for (const Neighbor& neighbor : all) top.Push(neighbor);
      const std::vector<uint64_t> kept = Addresses(std::move(top));
      ASSERT_EQ(kept.size(), std::min<size_t>(k, sorted.size()));
      for (size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], sorted[i].address);
    }
  }
}

TEST(TopK, TheWorstDistanceIsInfiniteUntilFull) {
  TopK top(2);
  EXPECT_EQ(top.worst_distance(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(top.Push({5, 1}));
  EXPECT_FALSE(top.full());
  EXPECT_EQ(top.worst_distance(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(top.Push({3, 2}));
  EXPECT_TRUE(top.full());
  EXPECT_EQ(top.worst_distance(), 5);
  EXPECT_FALSE(top.Push({6, 0}));
  EXPECT_TRUE(top.Push({5, 0})) << "the same distance at a lower address is better";
  EXPECT_EQ(top.size(), 2);
  EXPECT_EQ(Addresses(std::move(top)), (std::vector<uint64_t>{2, 0}));
}

TEST(TopK, OfNothingKeepsNothing) {
  TopK top(0);
  EXPECT_FALSE(top.Push({1, 1}));
  EXPECT_TRUE(top.TakeSorted().empty());
}

}  // namespace
}  // namespace kinjo::kernels
