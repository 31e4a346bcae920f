#include "join/probe_curve.h"

#include <gtest/gtest.h>

namespace kinjo::join {
namespace {

TEST(ProbeCurve, PartitionsAloneDecideForExactCodes) {
  ProbeCurve curve(3, false);
  curve.Add({.truth_ranks = {0, 4, 9}});
  curve.Add({.scanned_truths = 1, .truth_ranks = {2, kNoRank}});
  curve.Add({});  // has no recall
  EXPECT_EQ(curve.Reach(1), (std::vector<double>{1.0 / 3, 1.0 / 3}));
  EXPECT_EQ(curve.Recalls(5, 0), (std::vector<double>{2.0 / 3, 2.0 / 3}));
  EXPECT_EQ(curve.Recalls(10, 7), (std::vector<double>{1, 2.0 / 3}));
}

TEST(ProbeCurve, CandidatesOfVisitedPartitionsAreHandedOnInOrder) {
  ProbeCurve curve(2, true);
  // The second true row is third among all, but second among those of the two nearest partitions.
  curve.Add(
      {.truth_ranks = {0, 1}, .candidate_ranks = {0, 3, 1, 2}, .candidate_truths = {0, -1, 1, -1}});
  EXPECT_EQ(curve.Recalls(1, 0), (std::vector<double>{0.5}));
  EXPECT_EQ(curve.Recalls(2, 0), (std::vector<double>{1}));
  EXPECT_EQ(curve.Recalls(4, 0), (std::vector<double>{0.5}));
  EXPECT_EQ(curve.Recalls(4, 1), (std::vector<double>{0.5}));
  EXPECT_EQ(curve.Recalls(4, 2), (std::vector<double>{1}));
}

TEST(ProbeCurve, StepsRiseToTheMost) {
  for (const int64_t most : {1, 2, 19, 20, 1000}) {
    const std::vector<int64_t> steps = ProbeSteps(most);
    EXPECT_EQ(steps.front(), 1);
    EXPECT_EQ(steps.back(), most);
    for (size_t i = 1; i < steps.size(); ++i) {
      EXPECT_GT(steps[i], steps[i - 1]);
      EXPECT_LE(steps[i] - steps[i - 1], std::max<int64_t>(1, steps[i] / 10));
    }
  }
  EXPECT_EQ(RefineSteps(0, 5), (std::vector<int64_t>{0, 2, 3, 4, 5}));
  EXPECT_EQ(RefineSteps(0, 0), (std::vector<int64_t>{0}));
  EXPECT_EQ(RefineSteps(0, 1), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(RefineSteps(0, 11).back(), 11);
}

}  // namespace
}  // namespace kinjo::join
