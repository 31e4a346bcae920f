// The operators between a source and the answer: Sort, Take, Refine, Filter, Project, Union, Limit,
// the scans and the prefilter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "exec/operators/ann_ivf_partition_operator.h"
#include "exec/operators/ann_ivf_sub_index_operator.h"
#include "exec/operators/dataset_scan_operator.h"
#include "exec/operators/filter_operator.h"
#include "exec/operators/knn_vector_distance_operator.h"
#include "exec/operators/limit_operator.h"
#include "exec/operators/memory_scan_operator.h"
#include "exec/operators/multivector_scoring_operator.h"
#include "exec/operators/operator_fixture.h"
#include "exec/operators/project_operator.h"
#include "exec/operators/refine_operator.h"
#include "exec/operators/take_operator.h"
#include "exec/operators/top_k_operator.h"
#include "exec/operators/union_operator.h"

namespace kinjo::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// 12 rows in fragments of 4: row i is the vector (i, 0) with id 100 + i, but row 7 is null. Row
/// ids fall while addresses rise.
std::shared_ptr<MemoryDataset> LineDataset() {
  Vectors vectors;
  std::vector<int64_t> ids;
  for (int i = 0; i < 12; ++i) {
    vectors.push_back({static_cast<float>(i), 0});
    ids.push_back(100 + i);
  }
  vectors[7].clear();
  auto dataset = std::make_shared<MemoryDataset>(
      MakeBatch({{"id", MakeArray<arrow::Int64Builder>(ids)}, {"vector", MakeVectors(vectors, 2)}}),
      4);
  for (int64_t row = 0; row < 12; ++row) dataset->SetRowId(row, 1000 - static_cast<uint64_t>(row));
  return dataset;
}

uint64_t IdOf(int64_t row) { return 1000 - static_cast<uint64_t>(row); }

/// Hits on rows of the line.
OperatorPtr Hits(const std::vector<std::pair<int64_t, float>>& hits) {
  std::vector<float> distances;
  std::vector<uint64_t> row_ids;
  for (const auto& [row, distance] : hits) {
    distances.push_back(distance);
    row_ids.push_back(IdOf(row));
  }
  const auto batch = arrow::RecordBatch::Make(
      NeighborSchema(), static_cast<int64_t>(hits.size()),
      {MakeArray<arrow::FloatBuilder>(distances), MakeArray<arrow::UInt64Builder>(row_ids)});
  return MemoryScanOperator::Make(NeighborSchema(), {batch}).ValueOrDie();
}

std::vector<int64_t> RowsOf(const arrow::RecordBatch& batch) {
  std::vector<int64_t> rows;
  const auto& ids = ColumnOf<arrow::UInt64Array>(batch, kRowIdColumn);
  for (int64_t i = 0; i < ids.length(); ++i) {
    rows.push_back(1000 - static_cast<int64_t>(ids.Value(i)));
  }
  return rows;
}

VectorQuery LineQuery(double x, int64_t k) {
  VectorQuery query;
  query.column = "vector";
  query.vector = {x, 0};
  query.k = k;
  return query;
}

/// Checks the one child that an operator takes.
void ExpectOneChild(const OperatorPtr& op) {
  const OperatorPtr input = op->inputs()[0];
  for (const auto& inputs : {std::vector<OperatorPtr>{}, {input, input}}) {
    const auto changed = op->WithNewInputs(inputs);
    EXPECT_EQ(base::CodeOf(changed.status()), base::ErrorCode::kInvalid);
    EXPECT_EQ(base::MessageOf(changed.status()),
              base::Concat(op->name(), " node must have exactly one child; it was given ",
                           inputs.size()));
  }
  const auto again = op->WithNewInputs({input});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(RenderPlan(DescribePlan(**again), {}), RenderPlan(DescribePlan(*op), {}));
}

TEST(TopKOperator, TiesGoToTheLowerAddressAndNotToTheLowerRowId) {
  KINJO_ASSERT_RESULT(op,
                      TopKOperator::Make(Hits({{9, 1}, {2, 1}, {5, 0}, {4, 1}}), LineDataset(), 3));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  ASSERT_EQ(batches.size(), 1);
  EXPECT_THAT(RowsOf(*batches[0]), ElementsAre(5, 2, 4));
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "Sort: fetch=3, order=[_distance, row address]\n");
  EXPECT_EQ(op->statistics().num_rows, Estimate::Inexact(3));
  ExpectOneChild(op);
}

TEST(TopKOperator, DropsRowsWithoutADistanceAndKeepsInfinity) {
  KINJO_ASSERT_RESULT(
      op, TopKOperator::Make(Hits({{1, NAN}, {2, kInfinity}, {3, 4}}), LineDataset(), 5));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(3, 2));
}

TEST(TopKOperator, TheRangeIsAppliedBeforeTheCut) {
  KINJO_ASSERT_RESULT(op, TopKOperator::Make(Hits({{0, 0}, {1, 1}, {2, 4}, {3, 9}}), LineDataset(),
                                             2, DistanceRange::HalfOpen(1, 9)));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(1, 2));
  EXPECT_THAT(RenderPlan(op->Describe(), {}), HasSubstr("distance_range=[1, 9)\n"));
}

TEST(TopKOperator, ManyBatchesComeOutAsIfTheyWereOne) {
  const int64_t count = 30000;
  std::vector<int64_t> ids;
  Vectors vectors;
  std::vector<std::pair<float, int64_t>> order;
  std::mt19937_64 random(3);
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(i);
    vectors.push_back({static_cast<float>(random() % 500)});
    order.emplace_back(vectors.back()[0], i);
  }
  std::sort(order.begin(), order.end());
  const auto dataset = std::make_shared<MemoryDataset>(
      MakeBatch({{"id", MakeArray<arrow::Int64Builder>(ids)}, {"v", MakeVectors(vectors, 1)}}),
      count);
  std::vector<float> distances;
  std::vector<uint64_t> row_ids;
  for (int64_t i = 0; i < count; ++i) {
    distances.push_back(vectors[i][0]);
    row_ids.push_back(dataset->AddressOf(i));
  }
  const auto all = arrow::RecordBatch::Make(
      NeighborSchema(), count,
      {MakeArray<arrow::FloatBuilder>(distances), MakeArray<arrow::UInt64Builder>(row_ids)});
  arrow::RecordBatchVector slices;
  for (int64_t row = 0; row < count; row += 999) slices.push_back(all->Slice(row, 999));
  KINJO_ASSERT_RESULT(scan, MemoryScanOperator::Make(NeighborSchema(), slices));
  for (const int64_t k : {1, 700, 30000, 100000}) {
    KINJO_ASSERT_RESULT(op, TopKOperator::Make(scan, dataset, k));
    TestRun test;
    KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
    ASSERT_EQ(rows->num_rows(), std::min(k, count));
    const auto& found = ColumnOf<arrow::UInt64Array>(*rows, kRowIdColumn);
    for (int64_t i = 0; i < rows->num_rows(); ++i) {
      ASSERT_EQ(dataset->RowOf(found.Value(i)), order[i].second) << "k " << k << " rank " << i;
    }
  }
}

TEST(TopKOperator, ErrorsAreNamed) {
  EXPECT_EQ(base::MessageOf(TopKOperator::Make(Hits({}), LineDataset(), 0).status()),
            "SortExec node: k is 0, below 1");
  KINJO_ASSERT_RESULT(ids, ProjectOperator::Make(Hits({}), {kRowIdColumn}));
  EXPECT_EQ(base::MessageOf(TopKOperator::Make(ids, LineDataset(), 1).status()),
            "SortExec node: the input has no column \"_distance\" of type float");
}

TEST(TakeOperator, ReadsEachRowOnceAndKeepsTheOrder) {
  KINJO_ASSERT_RESULT(op,
                      TakeOperator::Make(Hits({{8, 0}, {1, 1}, {8, 2}}), LineDataset(), {"id"}));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_EQ(rows->schema()->field_names(), (std::vector<std::string>{"_distance", "_rowid", "id"}));
  EXPECT_EQ(rows->GetColumnByName("id")->ToString(), "[\n  108,\n  101,\n  108\n]");
  EXPECT_EQ(test.run.Total(kRowsTaken), 2);
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "Take: columns=[id]\n");
  EXPECT_EQ(op->statistics().num_rows, Estimate::Exact(3));
  EXPECT_EQ(op->statistics().null_counts.size(), 3);
  ExpectOneChild(op);
}

TEST(TakeOperator, ErrorsAreNamed) {
  const auto dataset = LineDataset();
  EXPECT_EQ(base::MessageOf(TakeOperator::Make(Hits({}), dataset, {"name"}).status()),
            "TakeExec node: memory.lance has no column \"name\"");
  KINJO_ASSERT_RESULT(once, TakeOperator::Make(Hits({}), dataset, {"id"}));
  EXPECT_EQ(base::MessageOf(TakeOperator::Make(once, dataset, {"id"}).status()),
            "TakeExec node: the input already has a column \"id\"");
  dataset->Delete(3);
  KINJO_ASSERT_RESULT(op, TakeOperator::Make(Hits({{3, 0}}), dataset, {"id"}));
  TestRun test;
  EXPECT_EQ(base::MessageOf(CollectBatches(*op, &test.run).status()),
            "memory.lance has no live row with row id 997");
}

TEST(RefineOperator, ScoresAllAndKeepsTheBest) {
  // Row 7 has no vector; row 2 comes twice.
  const auto input = Hits({{2, 9}, {5, 0}, {7, 0}, {2, 8}, {3, kInfinity}});
  KINJO_ASSERT_RESULT(
      op, RefineOperator::Make(input, LineDataset(), LineQuery(1, 2), RefineScope::kAll));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  ASSERT_EQ(batches.size(), 1);
  EXPECT_THAT(RowsOf(*batches[0]), ElementsAre(2, 3));
  EXPECT_EQ(batches[0]->column(0)->ToString(), "[\n  1,\n  4\n]");
  EXPECT_EQ(test.run.Total(kRowsRefined), 4);
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "Refine: metric=l2, k=2\n");
  ExpectOneChild(op);
}

TEST(RefineOperator, ScoresTheUnreachedAlone) {
  const auto input = Hits({{2, 0.5f}, {3, kInfinity}, {7, kInfinity}});
  KINJO_ASSERT_RESULT(
      op, RefineOperator::Make(input, LineDataset(), LineQuery(1, 5), RefineScope::kUnreached));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(2, 3));
  EXPECT_EQ(rows->column(0)->ToString(), "[\n  0.5,\n  4\n]");
  EXPECT_EQ(test.run.Total(kRowsRefined), 2);
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "Refine: metric=l2, k=5, rows=unreached\n");
}

TEST(RefineOperator, TheRangeHoldsForTheExactDistances) {
  VectorQuery query = LineQuery(1, 5);
  query.distance_range = DistanceRange::HalfOpen(4, 16);
  KINJO_ASSERT_RESULT(op, RefineOperator::Make(Hits({{2, 5}, {3, 5}, {4, 5}, {5, 5}}),
                                               LineDataset(), query, RefineScope::kAll));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(3, 4));  // at 4 and 9; row 5 at 16 is out
}

TEST(RefineOperator, ErrorsAreNamed) {
  VectorQuery query = LineQuery(1, 0);
  EXPECT_EQ(base::MessageOf(
                RefineOperator::Make(Hits({}), LineDataset(), query, RefineScope::kAll).status()),
            "RefineExec node: k is 0, below 1");
  query = LineQuery(1, 2);
  query.column = "name";
  EXPECT_EQ(base::CodeOf(
                RefineOperator::Make(Hits({}), LineDataset(), query, RefineScope::kAll).status()),
            base::ErrorCode::kNotFound);
  query = LineQuery(1, 2);
  query.vector.push_back(0);
  EXPECT_EQ(base::MessageOf(
                RefineOperator::Make(Hits({}), LineDataset(), query, RefineScope::kAll).status()),
            "the query for column \"vector\" has 3 elements, but the column has 2");
}

TEST(DatasetScanOperator, ReadsLiveRowsOfSomeFragmentsThatPass) {
  const auto dataset = LineDataset();
  dataset->Delete(4);
  auto mask = std::make_shared<dataset::RowMask>();
  for (const int64_t row : {0, 5, 6, 9}) mask->Add(dataset->AddressOf(row));
  KINJO_ASSERT_RESULT(
      op, DatasetScanOperator::Make(dataset, {.columns = {"id"},
                                              .with_row_id = true,
                                              .fragment_ids = std::vector<uint64_t>{1, 2},
                                              .mask = mask}));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(5, 6, 9));
  EXPECT_EQ(rows->column(0)->ToString(), "[\n  105,\n  106,\n  109\n]");
  EXPECT_EQ(op->statistics().num_rows, Estimate::Exact(3));
  EXPECT_EQ(RenderPlan(op->Describe(), {}),
            "DatasetScan: uri=memory.lance, columns=[id], fragments=2, row_id=true, "
            "passing_rows=4\n");
  KINJO_ASSERT_RESULT(whole, DatasetScanOperator::Make(dataset, {.columns = {"id"}}));
  EXPECT_EQ(whole->statistics().num_rows, Estimate::Exact(11));
  EXPECT_EQ(base::MessageOf(whole->WithNewInputs({op}).status()),
            "DatasetScanExec node does not accept children; it was given 1");
}

TEST(DatasetScanOperator, ErrorsAreNamed) {
  EXPECT_EQ(base::MessageOf(DatasetScanOperator::Make(LineDataset(), {.columns = {"x"}}).status()),
            "DatasetScanExec node: memory.lance has no column \"x\"");
  EXPECT_EQ(base::MessageOf(
                DatasetScanOperator::Make(LineDataset(), {.fragment_ids = std::vector<uint64_t>{3}})
                    .status()),
            "DatasetScanExec node: memory.lance has no fragment 3");
}

TEST(MemoryScanOperator, KnowsItsRowsAndNulls) {
  const auto batch = MakeBatch({{"v", MakeVectors({{1}, {}, {2}}, 1)}});
  KINJO_ASSERT_RESULT(op, MemoryScanOperator::Make(batch->schema(), {batch, batch->Slice(1, 2)}));
  EXPECT_EQ(op->statistics().num_rows, Estimate::Exact(5));
  EXPECT_EQ(op->statistics().null_counts, std::vector<Estimate>{Estimate::Exact(2)});
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "MemoryScan: batches=2, rows=5\n");
  EXPECT_EQ(base::CodeOf(MemoryScanOperator::Make(NeighborSchema(), {batch}).status()),
            base::ErrorCode::kInvalid);
  EXPECT_FALSE(op->WithNewInputs({op}).ok());
}

TEST(FilterOperator, KeepsRowsForWhichThePredicateIsTrue) {
  const auto dataset = LineDataset();
  KINJO_ASSERT_RESULT(scan,
                      DatasetScanOperator::Make(dataset, {.columns = {"id"}, .with_row_id = true}));
  KINJO_ASSERT_RESULT(
      predicate, predicate::Predicate::Parse("id in (101, 108, null)", dataset->arrow_schema()));
  KINJO_ASSERT_RESULT(op, FilterOperator::Make(scan, predicate));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(1, 8));
  EXPECT_EQ(op->statistics().num_rows, Estimate::Inexact(12));
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "Filter: predicate=id in (101, 108, null)\n");
  EXPECT_FALSE(op->supports_limit_pushdown());
  ExpectOneChild(op);
  EXPECT_EQ(base::MessageOf(FilterOperator::Make(Hits({}), predicate).status()),
            "FilterExec node: the input has no column \"id\" for id in (101, 108, null)");
}

TEST(ProjectOperator, ChoosesAndOrdersColumns) {
  KINJO_ASSERT_RESULT(op, ProjectOperator::Make(Hits({{1, 2}}), {kRowIdColumn, kDistanceColumn}));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_EQ(rows->schema()->field_names(), (std::vector<std::string>{"_rowid", "_distance"}));
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "Project: columns=[_rowid, _distance]\n");
  EXPECT_EQ(op->statistics().num_rows, Estimate::Exact(1));
  EXPECT_EQ(base::MessageOf(ProjectOperator::Make(Hits({}), {"x"}).status()),
            "ProjectExec node: the input has no column \"x\"");
  ExpectOneChild(op);
}

TEST(UnionOperator, GivesOneInputAfterAnother) {
  KINJO_ASSERT_RESULT(op, UnionOperator::Make({Hits({{3, 1}}), Hits({}), Hits({{1, 2}, {2, 0}})}));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(3, 1, 2));
  EXPECT_EQ(op->statistics().num_rows, Estimate::Exact(3));
  EXPECT_EQ(op->statistics().null_counts, (std::vector<Estimate>(2, Estimate::Exact(0))));
  EXPECT_EQ(base::MessageOf(UnionOperator::Make({}).status()),
            "UnionExec node must have at least one child");
  KINJO_ASSERT_RESULT(ids, ProjectOperator::Make(Hits({}), {kRowIdColumn}));
  EXPECT_THAT(base::MessageOf(op->WithNewInputs({Hits({}), ids}).status()),
              HasSubstr("UnionExec node: the inputs have different schemas"));
}

TEST(LimitOperator, CutsTheLastBatch) {
  KINJO_ASSERT_RESULT(both, UnionOperator::Make({Hits({{3, 1}}), Hits({{1, 2}, {2, 0}})}));
  KINJO_ASSERT_RESULT(op, LimitOperator::Make(both, 2));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*rows), ElementsAre(3, 1));
  EXPECT_EQ(op->statistics().num_rows, Estimate::Exact(2));
  EXPECT_EQ(base::MessageOf(LimitOperator::Make(both, -1).status()),
            "LimitExec node: the limit is -1, below 0");
  KINJO_ASSERT_RESULT(none, LimitOperator::Make(both, 0));
  KINJO_ASSERT_RESULT(no_rows, CollectBatches(*none, &test.run));
  EXPECT_TRUE(no_rows.empty());
  ExpectOneChild(op);
}

TEST(LimitOperator, GoesBelowTakeProjectAndUnion) {
  KINJO_ASSERT_RESULT(both, UnionOperator::Make({Hits({{3, 1}}), Hits({{1, 2}, {2, 0}})}));
  KINJO_ASSERT_RESULT(take, TakeOperator::Make(both, LineDataset(), {"id"}));
  KINJO_ASSERT_RESULT(project, ProjectOperator::Make(take, {"id"}));
  KINJO_ASSERT_RESULT(plan, LimitOperator::Make(project, 2));
  KINJO_ASSERT_RESULT(pushed, PushLimitsDown(plan));
  const std::string expected =
      "Limit: fetch=2\n"
      "  Project: columns=[id]\n"
      "    Limit: fetch=2\n"
      "      Take: columns=[id]\n"
      "        Limit: fetch=2\n"
      "          Union\n"
      "            Limit: fetch=2\n"
      "              MemoryScan: batches=1, rows=1\n"
      "            Limit: fetch=2\n"
      "              MemoryScan: batches=1, rows=2\n";
  EXPECT_EQ(RenderPlan(DescribePlan(*pushed), {}), expected);
  KINJO_ASSERT_RESULT(again, PushLimitsDown(pushed));
  EXPECT_EQ(again, pushed);
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*pushed, &test.run));
  EXPECT_EQ(rows->column(0)->ToString(), "[\n  103,\n  101\n]");
  EXPECT_EQ(test.run.Total(kRowsTaken), 2);
}

TEST(LimitOperator, NeverGoesBelowASearch) {
  const auto dataset = LineDataset();
  dataset->AddIndex("line", "vector", "l2", {{0, 1, 2}}, {{0, 0}, {8, 0}});
  const VectorQuery query = LineQuery(0, 3);
  KINJO_ASSERT_RESULT(ranks, AnnIvfPartitionOperator::Make(dataset, {"line-0"}, query));
  KINJO_ASSERT_RESULT(
      ann, AnnIvfSubIndexOperator::Make(ranks, dataset, dataset->vector_indexes()[0], query, {}));
  KINJO_ASSERT_RESULT(scan, DatasetScanOperator::Make(dataset, {.columns = {"vector"}}));
  KINJO_ASSERT_RESULT(knn, KnnVectorDistanceOperator::Make(scan, query));
  KINJO_ASSERT_RESULT(scoring, MultivectorScoringOperator::Make({ann}, query));
  KINJO_ASSERT_RESULT(sort, TopKOperator::Make(ann, dataset, 3));
  for (const OperatorPtr& search : {ann, knn, scoring, sort}) {
    KINJO_ASSERT_RESULT(plan, LimitOperator::Make(search, 1));
    KINJO_ASSERT_RESULT(pushed, PushLimitsDown(plan));
    EXPECT_EQ(pushed, plan) << search->name();
  }
}

TEST(Prefilter, NoneIsNotTheSameAsNothingPasses) {
  const auto dataset = LineDataset();
  TestRun test;
  KINJO_ASSERT_RESULT(none, Prefilter().Load(*dataset, &test.run));
  EXPECT_EQ(none, nullptr);
  KINJO_ASSERT_RESULT(given, Prefilter::Masked(nullptr).Load(*dataset, &test.run));
  EXPECT_EQ(given, nullptr);
  KINJO_ASSERT_RESULT(empty_source, Prefilter::FilteredRowIds(Hits({})));
  KINJO_ASSERT_RESULT(empty, empty_source.Load(*dataset, &test.run));
  ASSERT_NE(empty, nullptr);
  EXPECT_EQ(empty->count(), 0);
}

TEST(Prefilter, RowIdsBecomeLiveRowsOncePerRun) {
  const auto dataset = LineDataset();
  dataset->Delete(2);
  KINJO_ASSERT_RESULT(scan, DatasetScanOperator::Make(dataset, {.with_row_id = true}));
  KINJO_ASSERT_RESULT(deleted, Prefilter::FilteredRowIds(Hits({{2, 0}, {5, 0}})));
  KINJO_ASSERT_RESULT(prefilter, Prefilter::FilteredRowIds(scan));
  TestRun test;
  KINJO_ASSERT_RESULT(mask, prefilter.Load(*dataset, &test.run));
  EXPECT_EQ(mask->count(), 11);
  KINJO_ASSERT_RESULT(again, prefilter.Load(*dataset, &test.run));
  EXPECT_EQ(again, mask);
  EXPECT_EQ(dataset->num_scans(), 1);
  TestRun other;
  ASSERT_TRUE(prefilter.Load(*dataset, &other.run).ok());
  EXPECT_EQ(dataset->num_scans(), 2);
  KINJO_ASSERT_RESULT(live, deleted.Load(*dataset, &test.run));
  EXPECT_EQ(live->count(), 1);
  EXPECT_TRUE(live->Contains(dataset->AddressOf(5)));
}

TEST(Prefilter, ASourceWithoutRowIdsIsNamed) {
  KINJO_ASSERT_RESULT(plain, DatasetScanOperator::Make(LineDataset(), {.columns = {"id"}}));
  EXPECT_EQ(base::MessageOf(Prefilter::FilteredRowIds(plain).status()),
            "the prefilter's input DatasetScanExec has no uint64 column \"_rowid\"");
}

TEST(Operator, MetricsAreAnalyzed) {
  KINJO_ASSERT_RESULT(op, LimitOperator::Make(Hits({{1, 2}, {3, 4}}), 1));
  TestRun test;
  EXPECT_EQ(RenderPlan(DescribePlan(*op, &test.run), {.metrics = true}),
            "Limit: fetch=1\n  MemoryScan: batches=1, rows=2\n");
  ASSERT_TRUE(CollectBatches(*op, &test.run).ok());
  const std::string text = RenderPlan(DescribePlan(*op, &test.run), {.metrics = true});
  EXPECT_THAT(text, ::testing::MatchesRegex(
                        "Limit: fetch=1, metrics=.output_rows=1, elapsed_compute=[0-9.]+s.\n"
                        "  MemoryScan: batches=1, rows=2, "
                        "metrics=.output_rows=2, elapsed_compute=[0-9.]+s.\n"));
}

}  // namespace
}  // namespace kinjo::exec
