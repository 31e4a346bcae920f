// The reference's tests of probing, with a query that ties nowhere: 100 partitions of 100 rows, in
// 1 and in 20 segments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "exec/operators/nearest_plan.h"
#include "exec/operators/operator_fixture.h"

namespace kinjo::exec {
namespace {

constexpr int64_t kRows = 10000;
constexpr int64_t kCentroids = 100;
constexpr int64_t kMaskLabel = 17;

std::vector<float> PointAt(double angle) {
  return {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
}

double AngleOf(int64_t centroid) {
  return 2 * std::numbers::pi * static_cast<double>(centroid) / kCentroids;
}

/// Row i is centroid i mod 100, moved by up to 1e-4; label i mod 61; userid i.
std::shared_ptr<arrow::RecordBatch> MakeRows() {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<float> jitter(-1e-4f, 1e-4f);
  Vectors vectors;
  std::vector<uint32_t> labels;
  std::vector<uint64_t> userids;
  for (int64_t i = 0; i < kRows; ++i) {
    vectors.push_back(PointAt(AngleOf(i % kCentroids)));
    for (float& value : vectors.back()) value += jitter(random);
    labels.push_back(static_cast<uint32_t>(i % 61));
    userids.push_back(static_cast<uint64_t>(i));
  }
  return MakeBatch({{"vector", MakeVectors(vectors, 2)},
                    {"label", MakeArray<arrow::UInt32Builder>(labels)},
                    {"userid", MakeArray<arrow::UInt64Builder>(userids)}});
}

class Probes : public ::testing::TestWithParam<int64_t> {
 protected:
  Probes() {
    const int64_t deltas = GetParam();
    dataset_ = std::make_shared<MemoryDataset>(MakeRows(), kRows / deltas);
    Vectors centroids;
    for (int64_t j = 0; j < kCentroids; ++j) centroids.push_back(PointAt(AngleOf(j)));
    std::vector<float> codebook;
    for (int code = 0; code < 256; ++code) {
      codebook.push_back(static_cast<float>(code - 128) * 1e-6f);
    }
    std::vector<std::vector<uint64_t>> segments;
    for (int64_t i = 0; i < deltas; ++i) segments.push_back({static_cast<uint64_t>(i)});
    dataset_->AddIndex("vector_idx", "vector", "l2", segments, centroids, codebook);
    request_.query.column = "vector";
    request_.query.k = 50;
    request_.query.minimum_nprobes = 10;
    request_.index = dataset_->vector_indexes().data();
    request_.scores_unreached = false;
    request_.with_row_id = true;
    SetQuery(-1e-4);
  }

  void SetQuery(double angle) { request_.query.vector = {std::cos(angle), std::sin(angle)}; }

  template <typename Passes>
  void SetMask(Passes passes) {
    auto mask = std::make_shared<dataset::RowMask>();
    for (int64_t row = 0; row < kRows; ++row) {
      if (passes(row)) mask->Add(dataset_->AddressOf(row));
    }
    request_.mask = mask;
  }

  /// Runs the request; the counters are in run_.
  std::shared_ptr<arrow::RecordBatch> Search() {
    run_ = std::make_unique<TestRun>(2);
    const auto plan = MakeNearestPlan(dataset_, request_);
    if (!plan.ok()) {
      ADD_FAILURE() << plan.status();
      return nullptr;
    }
    const auto rows = RunPlan(**plan, &run_->run);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ValueOr(nullptr);
  }

  int64_t deltas() const { return GetParam(); }
  int64_t Counted(std::string_view name) const { return run_->run.Total(name); }

  static int64_t NumInfinite(const arrow::RecordBatch& rows) {
    const auto& distances = ColumnOf<arrow::FloatArray>(rows, kDistanceColumn);
    int64_t count = 0;
    for (int64_t i = 0; i < distances.length(); ++i)
      count += std::isinf(distances.Value(i)) ? 1 : 0;
    return count;
  }

  std::shared_ptr<MemoryDataset> dataset_;
  NearestRequest request_;
  std::unique_ptr<TestRun> run_;
};

INSTANTIATE_TEST_SUITE_P(Deltas, Probes, ::testing::Values(1, 20));

TEST_P(Probes, WithoutAMaximumTheLateSearchEndsAtK) {
  SetMask([](int64_t row) { return row % 61 == kMaskLabel; });
  const auto rows = Search();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->num_rows(), 50);
  EXPECT_LT(Counted(kPartitionsSearched), 100 * deltas());
  EXPECT_GT(Counted(kPartitionsSearched), 10 * deltas());
  EXPECT_EQ(NumInfinite(*rows), 0);
}

TEST_P(Probes, AFilterThatNothingPassesStillSearchesTheMinimum) {
  SetMask([](int64_t) { return false; });
  const auto rows = Search();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->num_rows(), 0);
  EXPECT_EQ(Counted(kPartitionsSearched), 10 * deltas());
}

TEST_P(Probes, TheMaximumIsAHardCap) {
  SetMask([](int64_t row) { return row % 61 == kMaskLabel; });
  // The turn decides which of the two farthest is in: at -1e-4 95, 90 and 85; else 5, 10 and 15.
  // Not turned at all they tie, and the lower id is in.
  struct Case {
    double turn;
    int64_t maximum;
    int64_t rows;
  };
  for (const Case& expected : {Case{-1e-4, 10, 16}, Case{-1e-4, 20, 32}, Case{-1e-4, 30, 48},
                               Case{1e-4, 10, 17}, Case{1e-4, 20, 33}, Case{1e-4, 30, 49},
                               Case{0, 10, 17}, Case{0, 20, 33}, Case{0, 30, 49}}) {
    SetQuery(expected.turn);
    request_.query.maximum_nprobes = expected.maximum;
    const auto rows = Search();
    ASSERT_NE(rows, nullptr);
    EXPECT_EQ(rows->num_rows(), expected.rows)
        << "turned by " << expected.turn << ", maximum " << expected.maximum;
    EXPECT_EQ(Counted(kPartitionsSearched), expected.maximum * deltas());
    EXPECT_EQ(Counted(kPartitionsRanked), 100 * deltas());
    EXPECT_EQ(Counted(kDeltasSearched), deltas());
  }
}

TEST_P(Probes, RowsThatAFilterPassesAndNoProbeReachesComeAtInfinity) {
  SetMask([](int64_t row) { return row < 20; });
  const auto rows = Search();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->num_rows(), 20);
  EXPECT_EQ(NumInfinite(*rows), 15);
  EXPECT_EQ(Counted(kPartitionsSearched), 10 * deltas());

  request_.query.refine_factor = 1;
  const auto refined = Search();
  ASSERT_NE(refined, nullptr);
  EXPECT_EQ(refined->num_rows(), 20);
  EXPECT_EQ(NumInfinite(*refined), 0);
  EXPECT_EQ(Counted(kRowsRefined), 20);

  // What searches show: only the unreached are scored, and all come in order.
  request_.query.refine_factor.reset();
  request_.scores_unreached = true;
  const auto scored = Search();
  ASSERT_NE(scored, nullptr);
  EXPECT_EQ(scored->num_rows(), 20);
  EXPECT_EQ(NumInfinite(*scored), 0);
  EXPECT_EQ(Counted(kRowsRefined), 15);
  const auto& ids = ColumnOf<arrow::UInt64Array>(*scored, kRowIdColumn);
  EXPECT_EQ(ids.Value(0), 0);
  EXPECT_EQ(ids.Value(19), 19);
}

TEST_P(Probes, MoreThanThereIsSearchesEverything) {
  request_.query.k = 40000;
  const auto rows = Search();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->num_rows(), kRows);
  EXPECT_EQ(Counted(kPartitionsSearched), 100 * deltas());
}

TEST_P(Probes, MinimumAndMaximumAboveThePartitionsMeanAll) {
  request_.query.minimum_nprobes = 500;
  auto rows = Search();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->num_rows(), 50);
  EXPECT_EQ(Counted(kPartitionsSearched), 100 * deltas());

  request_.query.minimum_nprobes = 10;
  request_.query.maximum_nprobes = 500;
  SetMask([](int64_t row) { return row % 61 == kMaskLabel; });
  rows = Search();
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->num_rows(), 50);
}

TEST_P(Probes, PartitionsThatTieComeByTheirId) {
  // At centroid 0 the partitions tie in pairs: 1 with 99, 2 with 98, ...
  SetQuery(0);
  KINJO_ASSERT_RESULT(segment, dataset_->OpenSegment(*request_.index, 0));
  std::vector<std::vector<index::RankedPartition>> ranked;
  segment->RankPartitions(segment->PrepareQueries(request_.query.vector), 0, 1, 100, &ranked);
  ASSERT_EQ(ranked[0].size(), 100);
  int ties = 0;
  for (size_t i = 1; i < ranked[0].size(); ++i) {
    const auto& before = ranked[0][i - 1];
    const auto& entry = ranked[0][i];
    ties += before.distance == entry.distance ? 1 : 0;
    EXPECT_TRUE(before.distance < entry.distance ||
                (before.distance == entry.distance && before.partition < entry.partition))
        << "rank " << i;
  }
  EXPECT_GT(ties, 40);
}

TEST_P(Probes, TheNearestTenOfTheTurnedQuery) {
  KINJO_ASSERT_RESULT(segment, dataset_->OpenSegment(*request_.index, 0));
  std::vector<std::vector<index::RankedPartition>> ranked;
  segment->RankPartitions(segment->PrepareQueries(request_.query.vector), 0, 1, 10, &ranked);
  std::vector<uint32_t> partitions;
  for (const auto& entry : ranked[0]) partitions.push_back(entry.partition);
  EXPECT_THAT(partitions, ::testing::ElementsAre(0, 99, 1, 98, 2, 97, 3, 96, 4, 95));
}

}  // namespace
}  // namespace kinjo::exec
