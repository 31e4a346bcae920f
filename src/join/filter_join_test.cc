// Joins with a filter, on every path, against brute force over the rows that pass.
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "join/brute_force.h"
#include "join/explain.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

using kernels::Metric;
using Lists = std::vector<std::vector<kernels::Neighbor>>;
using testing::HasSubstr;

constexpr int64_t kDim = 5;
constexpr int64_t kRows = 1000;

JoinOptions Options(const std::string& where, int64_t k = 6) {
  JoinOptions options;
  options.where = where;
  options.k = k;
  options.with_query_index = true;
  options.left_select = std::vector<std::string>{};
  options.threads = 2;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

std::shared_ptr<MemoryTable> Left(const Vectors& left) {
  return std::make_shared<MemoryTable>(MakeVectorBatch("q", "v", left, arrow::float32(), kDim),
                                       "left");
}

/// What the filters of these tests pass, by the row's number, which is its `id`.
struct Case {
  const char* where;
  std::function<bool(int64_t)> passes;
};

std::vector<Case> Cases() {
  return {{"id < 0", [](int64_t) { return false; }},
          {"id = 333", [](int64_t row) { return row == 333; }},
          {"id IN (1, 400, 998)", [](int64_t row) { return row == 1 || row == 400 || row == 998; }},
          {"id % 2 = 1", [](int64_t row) { return row % 2 == 1; }},
          {"id >= 990", [](int64_t row) { return row >= 990; }},
          {"id >= 0", [](int64_t) { return true; }}};
}

std::shared_ptr<MemoryDataset> MakeDataset() {
  Vectors vectors = IntegerVectors(kRows, kDim, 8);
  vectors[400].clear();  // null
  auto dataset = std::make_shared<MemoryDataset>(std::move(vectors), 200, kDim);
  for (int64_t row = 0; row < kRows; row += 7) dataset->Delete(row);
  return dataset;
}

Lists Expected(const MemoryDataset& dataset, const Vectors& left, const Case& filter, int64_t k,
               int64_t first_row = 0) {
  std::vector<bool> eligible;
  for (int64_t row = 0; row < kRows; ++row) {
    eligible.push_back(row >= first_row && dataset.live(row) && filter.passes(row));
  }
  return BruteForce(Metric::kL2, left, dataset.vectors(), k, eligible);
}

Lists Found(const JoinOutcome& outcome, const Vectors& left) {
  return NeighboursOf(*outcome.table, static_cast<int64_t>(left.size()), "id");
}

void ExpectSame(const Lists& got, const Lists& want, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t q = 0; q < want.size(); ++q) {
    ASSERT_EQ(got[q].size(), want[q].size()) << what << ", left row " << q;
    for (size_t i = 0; i < want[q].size(); ++i) {
      ASSERT_EQ(got[q][i].address, want[q][i].address) << what << ", left row " << q;
      ASSERT_EQ(got[q][i].distance, want[q][i].distance) << what << ", left row " << q;
    }
  }
}

int64_t Passing(const MemoryDataset& dataset, const Case& filter) {
  int64_t rows = 0;
  for (int64_t row = 0; row < kRows; ++row) rows += dataset.live(row) && filter.passes(row) ? 1 : 0;
  return rows;
}

TEST(FilterJoin, EveryPathFindsTheSame) {
  const Vectors left = IntegerVectors(70, kDim, 9);
  const std::vector<std::vector<std::vector<uint64_t>>> coverages = {
      {}, {{0, 1, 2, 3, 4}}, {{1, 3}}, {{0, 1}, {4}}};
  for (const auto& segments : coverages) {
    auto dataset = MakeDataset();
    if (!segments.empty()) {
      dataset->AddIndex("vec", "l2", segments, IntegerVectors(9, kDim, 99, -4, 4));
    }
    for (const Case& filter : Cases()) {
      for (const bool refines : {false, true}) {
        JoinOptions options = Options(filter.where);
        options.minimum_nprobes = 1000;  // every partition
        if (refines) options.refine_factor = 3;
        KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), options));
        ExpectSame(Found(got, left), Expected(*dataset, left, filter, 6), filter.where);
        EXPECT_EQ(got.report.filter_rows, Passing(*dataset, filter)) << filter.where;
        EXPECT_EQ(got.report.path, segments.empty() ? "exact" : "index");
      }
    }
  }
}

TEST(FilterJoin, TheExactPathReadsOnlyVectorsThatPass) {
  const Vectors left = IntegerVectors(10, kDim, 9);
  auto dataset = MakeDataset();
  for (const Case& filter : Cases()) {
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), Options(filter.where)));
    EXPECT_EQ(got.report.rows_scanned, Passing(*dataset, filter)) << filter.where;
  }
}

TEST(FilterJoin, TheDefaultSearchGoesOnUntilKRowsThatPass) {
  const Vectors left = IntegerVectors(50, kDim, 9);
  auto dataset = MakeDataset();
  dataset->AddIndex("vec", "l2", {{0, 1, 2, 3, 4}}, IntegerVectors(60, kDim, 99, -4, 4));
  for (const Case& filter : Cases()) {
    const Lists expected = Expected(*dataset, left, filter, 6);
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), Options(filter.where)));
    const Lists found = Found(got, left);
    for (size_t q = 0; q < left.size(); ++q) {
      EXPECT_EQ(found[q].size(), expected[q].size()) << filter.where;
      for (const auto& neighbor : found[q]) {
        EXPECT_TRUE(filter.passes(static_cast<int64_t>(neighbor.address))) << filter.where;
      }
    }
  }
}

// At most k rows pass: no partition is read, unless the caller asked for so many.
TEST(FilterJoin, FewRowsAreScoredWithoutTheIndex) {
  const Vectors left = IntegerVectors(20, kDim, 9);
  auto dataset = MakeDataset();
  dataset->AddIndex("vec", "l2", {{0, 1, 2, 3, 4}}, IntegerVectors(60, kDim, 99, -4, 4));
  const Case few = Cases()[2];
  KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), Options(few.where)));
  ExpectSame(Found(got, left), Expected(*dataset, left, few, 6), few.where);
  EXPECT_EQ(got.report.partitions_probed, 0);
  EXPECT_TRUE(got.report.exact_distances);
  EXPECT_TRUE(got.report.scored_all_passing);
  for (const bool fixed : {false, true}) {
    JoinOptions capped = Options(few.where);
    (fixed ? capped.nprobes : capped.maximum_nprobes) = 2;
    const int64_t reads_before = dataset->partition_reads();
    KINJO_ASSERT_RESULT(short_of, RunJoin(Left(left), MakeDatasetSide(dataset), capped));
    EXPECT_EQ(short_of.report.partitions_probed, 20 * 2);
    EXPECT_EQ(short_of.report.partitions_read, dataset->partition_reads() - reads_before);
    EXPECT_GT(short_of.report.partitions_skipped, short_of.report.partitions_read);
    EXPECT_FALSE(short_of.report.scored_all_passing);
    EXPECT_LT(short_of.report.result_rows, got.report.result_rows);
  }
}

TEST(FilterJoin, FastSearchStaysWithinTheIndex) {
  const Vectors left = IntegerVectors(20, kDim, 9);
  auto dataset = MakeDataset();
  dataset->AddIndex("vec", "l2", {{2, 3, 4}}, IntegerVectors(9, kDim, 99, -4, 4));
  for (const Case& filter : Cases()) {
    JoinOptions options = Options(filter.where);
    options.fast_search = true;
    options.minimum_nprobes = 1000;
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeDatasetSide(dataset), options));
    ExpectSame(Found(got, left), Expected(*dataset, left, filter, 6, 400), filter.where);
  }
}

TEST(FilterJoin, TablesAreFilteredToo) {
  const Vectors left = IntegerVectors(20, kDim, 9);
  const auto dataset = MakeDataset();
  const auto batch = MakeVectorBatch("id", "vector", dataset->vectors(), arrow::float32(), kDim);
  for (const Case& filter : Cases()) {
    const auto right = std::make_shared<MemoryTable>(batch, "right", 64);
    KINJO_ASSERT_RESULT(got, RunJoin(Left(left), MakeTableSide(right), Options(filter.where)));
    std::vector<bool> eligible;
    for (int64_t row = 0; row < kRows; ++row) eligible.push_back(filter.passes(row));
    ExpectSame(Found(got, left), BruteForce(Metric::kL2, left, dataset->vectors(), 6, eligible),
               filter.where);
  }
}

TEST(FilterJoin, BlocksAndThreadsChangeNothing) {
  const Vectors left = IntegerVectors(90, kDim, 9);
  auto dataset = MakeDataset();
  dataset->AddIndex("vec", "l2", {{0, 1}, {3}}, IntegerVectors(20, kDim, 99, -4, 4));
  JoinOptions options = Options("id % 3 = 0");
  KINJO_ASSERT_RESULT(whole, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  options.block_rows = 7;
  options.threads = 1;
  KINJO_ASSERT_RESULT(cut, RunJoin(Left(left), MakeDatasetSide(dataset), options));
  EXPECT_TRUE(cut.table->Equals(*whole.table));
}

TEST(FilterJoin, ABadFilterFailsWhenTheJoinIsPlanned) {
  const auto plan_of = [](const std::string& where) {
    return MakePlan(Left(IntegerVectors(1, kDim, 9)), MakeDatasetSide(MakeDataset()),
                    Options(where))
        .status();
  };
  EXPECT_EQ(base::CodeOf(plan_of("id >")), base::ErrorCode::kInvalid);
  EXPECT_THAT(plan_of("id >").message(), HasSubstr("where: "));
  EXPECT_EQ(base::CodeOf(plan_of("nowhere = 1")), base::ErrorCode::kNotFound);
  EXPECT_EQ(base::CodeOf(plan_of("id + 1")), base::ErrorCode::kInvalid);
}

TEST(FilterJoin, AFilterThatFailsOnARowNamesTheOption) {
  for (const bool table : {false, true}) {
    const auto dataset = MakeDataset();
    const auto batch = MakeVectorBatch("id", "vector", dataset->vectors(), arrow::float32(), kDim);
    const std::shared_ptr<RightSide> right =
        table ? MakeTableSide(std::make_shared<MemoryTable>(batch, "right"))
              : MakeDatasetSide(dataset);
    const auto failed =
        RunJoin(Left(IntegerVectors(1, kDim, 9)), right, Options("1 / (id - 333) >= 0")).status();
    EXPECT_EQ(base::CodeOf(failed), base::ErrorCode::kInvalid) << failed;
    EXPECT_EQ(base::MessageOf(failed).find("where: "), 0u) << failed;
  }
}

// An index's answer, the rows that pass and those that are unknown, is held until the scan is done.
TEST(FilterJoin, MasksOfIndexesCountInTheMemory) {
  const auto side = MakeDatasetSide(
      dataset::Dataset::Open(std::string(KINJO_GOLDEN_DIR) + "/filters.lance").ValueOrDie());
  const auto filter = [&](const char* where) {
    return MakeRightFilter(side.get(), Options(where), 2).ValueOrDie();
  };
  const auto one = filter("i = 3");
  const auto scanned = filter("i + 0 = i");
  ASSERT_THAT(one->indexes, testing::ElementsAre("i_idx"));
  ASSERT_THAT(scanned->indexes, testing::IsEmpty());
  EXPECT_EQ(one->work_bytes, scanned->work_bytes + 2 * one->mask_bytes);
}

TEST(FilterJoin, TheFilterIsInThePlan) {
  KINJO_ASSERT_RESULT(plan, MakePlan(Left(IntegerVectors(1, kDim, 9)),
                                     MakeDatasetSide(MakeDataset()), Options("id > 3")));
  const std::string text = exec::RenderPlan(DescribePlan(*plan, false, nullptr), {});
  EXPECT_THAT(text, HasSubstr("Prefilter: where=\"id > 3\", columns=[id], scalar_indexes=[]"));
}

TEST(FilterJoin, TheMaskCountsInTheMemoryLimit) {
  JoinOptions options = Options("id > 3");
  options.memory_limit_bytes = 1000;
  const auto failed =
      MakePlan(Left(IntegerVectors(1, kDim, 9)), MakeDatasetSide(MakeDataset()), options).status();
  EXPECT_EQ(base::CodeOf(failed), base::ErrorCode::kCapacity);
  options.memory_limit_bytes = int64_t{1} << 30;
  KINJO_ASSERT_RESULT(
      with, MakePlan(Left(IntegerVectors(1, kDim, 9)), MakeDatasetSide(MakeDataset()), options));
  options.where.clear();
  KINJO_ASSERT_RESULT(
      without, MakePlan(Left(IntegerVectors(1, kDim, 9)), MakeDatasetSide(MakeDataset()), options));
  EXPECT_EQ(with->memory.fixed_bytes, without->memory.fixed_bytes + with->filter->mask_bytes);
  EXPECT_GT(with->filter->mask_bytes, 0);
}

}  // namespace
}  // namespace kinjo::join
