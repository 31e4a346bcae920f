#include "join/recall_estimate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace kinjo::join {
namespace {

/// Recalls of rows whose k neighbours are missed together more often than alone.
std::vector<double> SomeRows(size_t count, int64_t k, double hard, std::mt19937* random) {
  std::vector<double> recalls;
  std::bernoulli_distribution is_hard(hard);
  for (size_t row = 0; row < count; ++row) {
    std::binomial_distribution<int64_t> found(k, is_hard(*random) ? 0.6 : 0.995);
    recalls.push_back(static_cast<double>(found(*random)) / static_cast<double>(k));
  }
  return recalls;
}

double MeanOf(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

TEST(RecallEstimate, CoversTheTruthInNineOfTenSamples) {
  std::mt19937 random(5);
  for (const int64_t k : {1, 10, 100}) {
    for (const double hard : {0.0, 0.02, 0.1, 0.5}) {
      const std::vector<double> all = SomeRows(20'000, k, hard, &random);
      const double truth = MeanOf(all);
      int covered = 0;
      for (int run = 0; run < 400; ++run) {
        std::vector<double> sample;
        std::sample(all.begin(), all.end(), std::back_inserter(sample), 256, random);
        const RecallEstimate got = EstimateRecall(sample, static_cast<int64_t>(all.size()));
        ASSERT_LE(got.low, got.recall);
        ASSERT_GE(got.high, got.recall);
        covered += got.low <= truth && truth <= got.high;
      }
      EXPECT_GE(covered, 360) << "k " << k << ", hard " << hard;
    }
  }
}

TEST(RecallEstimate, OfAFinitePopulationIsNarrowerAndInTheEndExact) {
  std::mt19937 random(6);
  const std::vector<double> rows = SomeRows(200, 10, 0.1, &random);
  const RecallEstimate many = EstimateRecall(rows, -1);
  const RecallEstimate some = EstimateRecall(rows, 250);
  const RecallEstimate all = EstimateRecall(rows, 200);
  EXPECT_LT(some.high - some.low, 0.6 * (many.high - many.low));
  EXPECT_EQ(all.low, all.high);
  EXPECT_EQ(all.recall, all.low);
  EXPECT_NEAR(all.recall, MeanOf(rows), 1e-12);
}

TEST(RecallEstimate, DoesNotCallASampleWithoutMissesCertain) {
  // Of sizes too by which one can't be divided and multiplied again.
  for (const size_t rows : {49, 107, 156, 256}) {
    const std::vector<double> perfect(rows, 1.0);
    const RecallEstimate got = EstimateRecall(perfect, 10'000);
    EXPECT_EQ(got.recall, 1) << rows;
    EXPECT_EQ(got.high, 1) << rows;
    EXPECT_LT(got.low, 0.99) << rows;
  }
  EXPECT_EQ(EstimateRecall({}, 10).low, 0);
}

TEST(RecallEstimate, ASettingIsTakenOnlyWithAMargin) {
  std::mt19937 random(7);
  int wrong = 0;
  int taken = 0;
  // True recall 0.936: more than the slack below the target.
  for (int run = 0; run < 400; ++run) {
    wrong += ReachesTarget(SomeRows(156, 10, 0.15, &random), 10'000, 10, 0.95);
  }
  // True recall 0.975.
  for (int run = 0; run < 400; ++run) {
    taken += ReachesTarget(SomeRows(156, 10, 0.05, &random), 10'000, 10, 0.95);
  }
  EXPECT_LE(wrong, 20);
  EXPECT_GE(taken, 360);
}

TEST(RecallEstimate, FewPerfectRowsDontProveAHighTarget) {
  EXPECT_FALSE(ReachesTarget(std::vector<double>(50, 1.0), 10'000, 1, 0.99));
  EXPECT_TRUE(ReachesTarget(std::vector<double>(400, 1.0), 10'000, 1, 0.99));
  EXPECT_TRUE(ReachesTarget(std::vector<double>(50, 1.0), 50, 1, 1.0));
  EXPECT_FALSE(ReachesTarget(std::vector<double>{1.0, 0.9}, 2, 10, 0.99));
}

}  // namespace
}  // namespace kinjo::join
