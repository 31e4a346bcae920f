#include "index/smallest_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace kinjo::index {
namespace {

std::vector<uint32_t> PickSlowly(const std::vector<float>& scores, int64_t limit, float slack) {
  std::vector<float> sorted = scores;
  std::sort(sorted.begin(), sorted.end());
  const float cut = sorted[limit - 1] + slack;
  std::vector<uint32_t> picked;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] <= cut) picked.push_back(static_cast<uint32_t>(i));
  }
  return picked;
}

// Everything that sorting picks, and few more.
void ExpectPick(const std::vector<float>& scores, int64_t limit, float slack, int64_t more) {
  PickScratch scratch;
  std::vector<uint32_t> picked = {99};
  PickSmallest(scores.data(), static_cast<int64_t>(scores.size()), limit, slack, &scratch, &picked);
  EXPECT_TRUE(std::is_sorted(picked.begin(), picked.end()));
  const std::vector<uint32_t> needed = PickSlowly(scores, limit, slack);
  EXPECT_TRUE(std::includes(picked.begin(), picked.end(), needed.begin(), needed.end()))
      << scores.size() << " " << limit;
  EXPECT_LE(picked.size(), needed.size() + static_cast<size_t>(more)) << limit;
}

TEST(SmallestScores, HoldWhatSortingPicks) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const int64_t count : {1, 2, 15, 16, 100, 127, 128, 600, 1024, 4096}) {
    std::vector<float> scores(static_cast<size_t>(count));
    for (float& score : scores) score = normal(random);
    for (const int64_t limit : {1, 2, 8, 24, 64, 500}) {
      if (limit > count) continue;
      for (const float slack : {0.0f, 0.01f, 10.0f}) {
        ExpectPick(scores, limit, slack, limit / 2 + 8);
      }
    }
  }
}

TEST(SmallestScores, CutAboveHoldsEnoughAndNotMuchMore) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  PickScratch scratch;
  for (const int64_t count : {1, 40, 384, 1024}) {
    std::vector<float> scores(static_cast<size_t>(count));
    for (float& score : scores) score = normal(random);
    for (const int64_t limit : {1, 10, 40, 384}) {
      if (limit > count) continue;
      const float cut = CutAbove(scores.data(), count, limit, &scratch);
      const auto held =
          std::count_if(scores.begin(), scores.end(), [cut](float score) { return score <= cut; });
      EXPECT_GE(held, limit);
      EXPECT_LE(held, limit + limit / 2 + 8);
    }
  }
}

TEST(SmallestScores, FindGapTellsTheSmallestApartOrSaysThatItCant) {
  std::vector<float> scores = {7, 1, 5, 3, 9, 11, 2};
  float cut = 0;
  for (int64_t limit = 1; limit < 7; ++limit) {
    ASSERT_TRUE(FindGap(scores.data(), 7, limit, 0.5f, &cut)) << limit;
    EXPECT_EQ(std::count_if(scores.begin(), scores.end(), [cut](float s) { return s <= cut; }),
              limit);
  }
  EXPECT_TRUE(FindGap(scores.data(), 7, 7, 0.5f, &cut));
  EXPECT_FALSE(FindGap(scores.data(), 7, 1, 1.0f, &cut)) << "2 is no more than 1 above 1";
  EXPECT_TRUE(FindGap(scores.data(), 7, 3, 1.0f, &cut));
  scores = {4, 4, 4, 1};
  EXPECT_TRUE(FindGap(scores.data(), 4, 1, 0.5f, &cut));
  EXPECT_FALSE(FindGap(scores.data(), 4, 2, 0, &cut)) << "ties";
}

TEST(SmallestScores, KeepTiesAndInfinities) {
  std::mt19937 random(4);
  std::vector<float> scores(1000);
  for (float& score : scores) score = static_cast<float>(random() % 5);
  for (const int64_t limit : {1, 10, 250, 1000}) ExpectPick(scores, limit, 0, 1000);
  scores.assign(1000, std::numeric_limits<float>::infinity());
  scores[500] = 1;
  ExpectPick(scores, 1, 0.5f, 0);
  for (const int64_t limit : {2, 1000}) ExpectPick(scores, limit, 0.5f, 1000);
  scores.assign(1000, -std::numeric_limits<float>::max());
  scores[3] = std::numeric_limits<float>::max();
  for (const int64_t limit : {1, 2, 999, 1000}) ExpectPick(scores, limit, 0, 0);
}

TEST(SmallestScores, FindNeighboursInOneColumn) {
  // All small scores fall into one column of the folding.
  std::vector<float> scores(1024, 100.0f);
  for (int i = 0; i < 32; ++i) scores[i * 32] = static_cast<float>(i);
  for (const int64_t limit : {1, 2, 4, 8, 20}) ExpectPick(scores, limit, 0, 1024);
}

}  // namespace
}  // namespace kinjo::index
