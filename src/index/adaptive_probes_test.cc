#include <gtest/gtest.h>

#include <vector>

#include "index/ivf_segment.h"

namespace kinjo::index {
namespace {

using kernels::Metric;

// `near` distances at 1 + step * i, then far ones up to 2,000 partitions.
std::vector<float> Ranked(int64_t near, float first, float last) {
  std::vector<float> ranked(2000, 1e6f);
  for (int64_t i = 0; i < near; ++i) {
    ranked[i] = first + (last - first) * static_cast<float>(i) / static_cast<float>(near);
  }
  return ranked;
}

TEST(AdaptiveProbes, CountsPartitionsWithinTheMargin) {
  // k = 10, l2: margin .265 of the nearest distance, between 6 and 24.
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 10, Ranked(15, 100, 126)), 15);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 10, Ranked(3, 100, 126)), 6);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 10, Ranked(500, 100, 126)), 24);
  // k = 100, cosine: margin .38, between 7 and 106.
  EXPECT_EQ(AdaptiveProbeCount(Metric::kCosine, 100, Ranked(50, 1, 1.37f)), 50);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kCosine, 100, Ranked(500, 1, 1.37f)), 106);
  // k = 1, dot: margin .14 of the best inner product (10), between 56 and 112.
  EXPECT_EQ(AdaptiveProbeCount(Metric::kDot, 1, Ranked(80, -9, -7.7f)), 80);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kDot, 1, Ranked(10, -9, -7.7f)), 56);
}

TEST(AdaptiveProbes, IncludesADistanceAtTheMargin) {
  std::vector<float> ranked(100, 1e6f);
  ranked[0] = 1;
  for (int i = 1; i < 12; ++i) ranked[i] = 1.25f;
  // .375 of 1 is exact: k = 200 admits 1.375 and nothing above.
  for (int i = 12; i < 30; ++i) ranked[i] = 1.375f;
  for (int i = 30; i < 40; ++i) ranked[i] = 1.3750002f;
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 200, ranked), 30);
}

TEST(AdaptiveProbes, TakesTheColumnThatHoldsK) {
  const std::vector<float> equal(3000, 1.0f);  // all within any margin: the cap answers
  const std::vector<std::pair<int64_t, int64_t>> caps = {
      {1, 19},   {2, 24},    {10, 24},    {11, 38},     {100, 38},    {200, 56},
      {500, 81}, {1000, 93}, {1001, 238}, {10000, 238}, {10001, 704}, {100000, 704}};
  for (const auto& [k, cap] : caps) {
    EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, k, equal), cap) << k;
    EXPECT_EQ(AdaptiveProbeCap(Metric::kL2, k), cap) << k;
  }
}

// The dataset of the format notes: 32 partitions.
TEST(AdaptiveProbes, NeverExceedsThePartitions) {
  const std::vector<float> equal(32, 1.0f);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 1, equal), 19);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 10, equal), 24);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 100, equal), 32);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kDot, 1, std::vector<float>(55, 0.5f)), 55);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 10, {}), 0);
}

TEST(AdaptiveProbes, CountsByMultipleBeyondTheTable) {
  const std::vector<float> ranked = {2, 3, 14, 15, 162, 163};
  EXPECT_EQ(AdaptiveProbeCount(Metric::kHamming, 1, ranked), 1);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kHamming, 10, ranked), 3);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kHamming, 11, ranked), 5);
  EXPECT_EQ(AdaptiveProbeCount(Metric::kL2, 100001, ranked), 5);
}

TEST(AdaptiveProbes, CapManyRanksAreEnough) {
  const std::vector<float> ranked = Ranked(900, 1, 1.3f);
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kDot}) {
    for (const int64_t k : {1, 10, 50, 150, 300, 900, 5000}) {
      const auto cap = static_cast<size_t>(AdaptiveProbeCap(metric, k));
      EXPECT_EQ(
          AdaptiveProbeCount(metric, k, ranked),
          AdaptiveProbeCount(metric, k, std::span(ranked).first(std::min(cap, ranked.size()))))
          << k;
    }
  }
}

// Lance 14's counts on the dataset of the format notes: 32 partitions, of which the adaptive rule
// takes 24.
TEST(EffortProbes, EqualLance) {
  const std::vector<std::pair<double, int64_t>> counts = {{0, 1},   {.1, 2},   {.25, 5}, {.4, 13},
                                                          {.5, 24}, {.75, 28}, {.9, 31}, {1, 32}};
  for (const auto& [effort, count] : counts) {
    EXPECT_EQ(EffortProbeCount(effort, 24, 1, 32), count) << effort;
  }
}

TEST(EffortProbes, RunFromMinimumToMaximum) {
  EXPECT_EQ(EffortProbeCount(0, 24, 6, 20), 6);
  EXPECT_EQ(EffortProbeCount(0.25, 24, 6, 54), 12);  // 6 * (24 / 6)^(1/2)
  EXPECT_EQ(EffortProbeCount(0.75, 24, 6, 54), 36);  // 24 * (54 / 24)^(1/2)
  EXPECT_EQ(EffortProbeCount(1, 24, 6, 54), 54);
  EXPECT_EQ(EffortProbeCount(0.5, 24, 6, 20), 20);  // the adaptive count is held between the two
  EXPECT_EQ(EffortProbeCount(0.5, 24, 30, 40), 30);
  EXPECT_EQ(EffortProbeCount(0, 24, 100, 32), 32);  // a minimum above the partitions means all
  EXPECT_EQ(EffortProbeCount(0.3, 24, 1, 0), 0);
}

TEST(EffortProbes, WholePowersAreNotRoundedUp) {
  for (int64_t root = 1; root <= 1000; ++root) {
    EXPECT_EQ(EffortProbeCount(0.25, root * root, 1, INT32_MAX), root);
    EXPECT_EQ(EffortProbeCount(0.75, 1, 1, root * root), root);
  }
}

TEST(EffortProbes, RiseWithTheEffort) {
  int64_t last = 0;
  for (int step = 0; step <= 1000; ++step) {
    const int64_t count = EffortProbeCount(step / 1000.0, 37, 2, 901);
    EXPECT_GE(count, last);
    last = count;
  }
  EXPECT_EQ(last, 901);
}

}  // namespace
}  // namespace kinjo::index
