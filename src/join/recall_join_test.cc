// Joins with a recall target, on data in memory, against brute force.
#include <gtest/gtest.h>

#include <random>

#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

using kernels::Metric;

constexpr int64_t kDim = 6;
constexpr int64_t kRows = 6000;

Vectors NormalVectors(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Vectors vectors(static_cast<size_t>(count));
  for (auto& vector : vectors) {
    for (int64_t j = 0; j < kDim; ++j) vector.push_back(normal(random));
  }
  return vectors;
}

JoinOptions Options(double recall) {
  JoinOptions options;
  options.k = 8;
  options.recall = recall;
  options.with_query_index = true;
  options.left_select = std::vector<std::string>{};
  options.threads = 2;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

/// Centroids are rows, so that partitions are about even.
std::shared_ptr<MemoryDataset> MakeDataset(const Vectors& right, int64_t partitions,
                                           const std::vector<std::vector<uint64_t>>& segments) {
  auto dataset = std::make_shared<MemoryDataset>(right, 2000, kDim);
  dataset->AddIndex("vec", "l2", segments, Vectors(right.begin(), right.begin() + partitions));
  return dataset;
}

std::shared_ptr<MemoryTable> Left(const Vectors& left) {
  return std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, arrow::float32(), kDim),
                                       "left");
}

using Neighbors = std::vector<std::vector<kernels::Neighbor>>;

Neighbors TrueNeighbors(const Vectors& left, const MemoryDataset& dataset) {
  std::vector<bool> live;
  for (int64_t row = 0; row < kRows; ++row) live.push_back(dataset.live(row));
  return BruteForce(Metric::kL2, left, dataset.vectors(), 8, live);
}

double TrueRecall(const JoinOutcome& got, const Neighbors& exact) {
  const auto found = NeighboursOf(*got.table, static_cast<int64_t>(exact.size()), "id");
  std::vector<double> recalls;
  for (size_t q = 0; q < exact.size(); ++q) AppendRecall(exact[q], found[q], &recalls);
  return EstimateRecall(recalls, static_cast<int64_t>(recalls.size())).recall;
}

TEST(RecallJoin, ReachesTheTargetWithDeltasDeletionsAndUnindexedRows) {
  const Vectors left = NormalVectors(1500, 1);
  const Vectors right = NormalVectors(kRows, 2);
  Neighbors exact;  // the same whatever is indexed
  for (const auto& segments :
       std::vector<std::vector<std::vector<uint64_t>>>{{{0, 1, 2}}, {{0}, {1, 2}}, {{0, 1}}}) {
    auto dataset = MakeDataset(right, 60, segments);
    for (int64_t row = 0; row < kRows; row += 5) dataset->Delete(row);
    if (exact.empty()) exact = TrueNeighbors(left, *dataset);
    for (const double target : {0.7, 0.9, 0.99}) {
      KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), Options(target)));
      ASSERT_TRUE(got.report.recall.has_value());
      const RecallReport& recall = *got.report.recall;
      const double truth = TrueRecall(got, exact);
      EXPECT_GE(truth, target - kRecallSlack);
      EXPECT_TRUE(recall.measured);
      EXPECT_LE(recall.estimate.low - 0.015, truth);
      EXPECT_GE(recall.estimate.high + 0.015, truth);
      EXPECT_LT(recall.chosen.nprobes, 60);
      EXPECT_EQ(recall.chosen.refine_factor, 0);
      EXPECT_EQ(got.report.short_rows, 0);
    }
  }
}

TEST(RecallJoin, TheCurveIsWhatFixedProbesFind) {
  const Vectors left = NormalVectors(250, 3);  // few enough to be measured whole
  const Vectors right = NormalVectors(kRows, 4);
  auto dataset = MakeDataset(right, 60, {{0, 1, 2}});
  const Neighbors exact = TrueNeighbors(left, *dataset);
  JoinOptions options = Options(0.9);
  KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  const int64_t chosen = got.report.recall->chosen.nprobes;
  EXPECT_NEAR(got.report.recall->estimate.recall, TrueRecall(got, exact), 1e-9);
  options.recall.reset();
  options.nprobes = chosen;
  KINJO_ASSERT_RESULT(fixed, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  EXPECT_TRUE(fixed.table->Equals(*got.table));
  EXPECT_GE(TrueRecall(fixed, exact), 0.9);
  options.nprobes = chosen - 1;
  KINJO_ASSERT_RESULT(less, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  EXPECT_LT(TrueRecall(less, exact), 0.9);
}

TEST(RecallJoin, NeitherThreadsNorBlocksNorMemoryChoose) {
  const Vectors left = NormalVectors(1200, 5);
  auto dataset = MakeDataset(NormalVectors(kRows, 6), 40, {{0, 1}, {2}});
  std::shared_ptr<arrow::Table> first;
  for (const auto& [threads, block, megabytes] :
       {std::tuple{1, 4096, 1024}, {2, 7, 1024}, {2, 64, 64}}) {
    JoinOptions options = Options(0.9);
    options.threads = threads;
    options.block_rows = block;
    options.memory_limit_bytes = int64_t{megabytes} << 20;
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), options));
    if (first == nullptr) first = got.table;
    EXPECT_TRUE(first->Equals(*got.table)) << threads << " " << block;
  }
}

TEST(RecallJoin, AStreamIsReadOnceAndWhole) {
  Vectors left = NormalVectors(700, 7);
  left[3].clear();
  auto dataset = MakeDataset(NormalVectors(kRows, 8), 40, {{0, 1, 2}});
  const auto batch = MakeVectorBatch("q", "v", left, arrow::float32(), kDim);
  arrow::RecordBatchVector batches;
  for (int64_t row = 0; row < 700; row += 90) batches.push_back(batch->Slice(row, 90));
  const auto reader = arrow::RecordBatchReader::Make(batches, batch->schema()).ValueOrDie();
  JoinOptions options = Options(0.9);
  KINJO_ASSERT_RESULT(
      got, RunJoin(tabular::MakeStreamSource(reader, "stream"), MakeDatasetSide(dataset), options));
  KINJO_ASSERT_RESULT(want, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  EXPECT_TRUE(got.table->Equals(*want.table));  // 700 rows are all in the sampled prefix
  EXPECT_EQ(got.report.left_rows, 700);
  EXPECT_EQ(got.report.recall->estimate.rows, want.report.recall->estimate.rows);
}

TEST(RecallJoin, WithoutAnIndexItIsOneAndNothingIsMeasured) {
  const Vectors left = NormalVectors(50, 9);
  auto dataset = std::make_shared<MemoryDataset>(NormalVectors(900, 10), 500, kDim);
  KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), Options(0.9)));
  ASSERT_TRUE(got.report.recall.has_value());
  EXPECT_TRUE(got.report.recall->exact);
  EXPECT_EQ(got.report.recall->estimate.recall, 1);
  EXPECT_EQ(got.report.recall->estimate.rows, 0);
}

TEST(RecallJoin, ABadRowIsNamedByItsOwnNumber) {
  Vectors left = NormalVectors(900, 11);
  left[777].pop_back();
  auto dataset = MakeDataset(NormalVectors(kRows, 12), 20, {{0, 1, 2}});
  const auto table =
      std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, arrow::float32(), -1), "left");
  const auto got = RunJoin(table, MakeDatasetSide(dataset), Options(0.9));
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.status().message().find("row 777"), std::string::npos) << got.status();
}

TEST(RecallJoin, NoLeftRowsAreNoTrouble) {
  auto dataset = MakeDataset(NormalVectors(kRows, 13), 20, {{0, 1, 2}});
  KINJO_ASSERT_RESULT(got, RunJoin(Left({}), MakeDatasetSide(dataset), Options(0.9)));
  EXPECT_EQ(got.table->num_rows(), 0);
  EXPECT_FALSE(got.report.recall->measured);
}

}  // namespace
}  // namespace kinjo::join
