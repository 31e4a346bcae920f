#include "dataset/kept_partitions.h"

#include <gtest/gtest.h>

namespace kinjo::dataset {
namespace {

KeptPartitions::Content Something() { return std::make_shared<const int>(7); }

TEST(KeptPartitions, GivesBackWhatItKeeps) {
  KeptPartitions kept(1 << 20);
  const auto content = Something();
  EXPECT_EQ(kept.Find("a", 1), nullptr);
  kept.Keep("a", 1, content, 1000);
  EXPECT_EQ(kept.Find("a", 1), content);
  EXPECT_EQ(kept.Find("a", 2), nullptr);
  EXPECT_EQ(kept.Find("b", 1), nullptr);
  EXPECT_GE(kept.used_bytes(), 1000);
}

TEST(KeptPartitions, CountsAPartitionOnce) {
  KeptPartitions kept(1 << 20);
  const auto first = Something();
  kept.Keep("a", 1, first, 1000);
  const int64_t used = kept.used_bytes();
  kept.Keep("a", 1, Something(), 2000);
  EXPECT_EQ(kept.used_bytes(), used);
  EXPECT_EQ(kept.Find("a", 1), first);
}

TEST(KeptPartitions, DropsWhatWasAskedForLongestAgo) {
  KeptPartitions kept(35'000);
  for (int64_t p = 0; p < 3; ++p) kept.Keep("a", p, Something(), 10'000);
  ASSERT_NE(kept.Find("a", 0), nullptr);
  kept.Keep("a", 3, Something(), 10'000);
  EXPECT_NE(kept.Find("a", 0), nullptr);
  EXPECT_EQ(kept.Find("a", 1), nullptr);
  EXPECT_NE(kept.Find("a", 2), nullptr);
  EXPECT_NE(kept.Find("a", 3), nullptr);
}

TEST(KeptPartitions, NeverHoldsMoreThanItsCapacity) {
  KeptPartitions kept(20'000);
  for (int64_t p = 0; p < 100; ++p) {
    kept.Keep("a", p, Something(), 1 + p * 3737 % 15'000);
    EXPECT_LE(kept.used_bytes(), kept.capacity_bytes());
  }
  const int64_t used = kept.used_bytes();
  kept.Keep("a", 1000, Something(), 30'000);  // alone larger than the capacity: nothing is dropped
  EXPECT_EQ(kept.Find("a", 1000), nullptr);
  EXPECT_EQ(kept.used_bytes(), used);
}

TEST(KeptPartitions, ForgetsEverything) {
  KeptPartitions kept(10'000);
  kept.Keep("a", 1, Something(), 1000);
  kept.Clear();
  EXPECT_EQ(kept.Find("a", 1), nullptr);
  EXPECT_EQ(kept.used_bytes(), 0);
  kept.Keep("a", 1, Something(), 9000);
  EXPECT_NE(kept.Find("a", 1), nullptr);
}

TEST(KeptPartitions, NoDatasetHasNone) { EXPECT_EQ(KeptPartitions::Of(nullptr), nullptr); }

}  // namespace
}  // namespace kinjo::dataset
