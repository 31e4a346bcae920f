// ANNIvfPartition and ANNIvfSubIndex: schemas, explain texts, counters, errors, and the rules of
// the early and the late search on small data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "exec/operators/ann_ivf_partition_operator.h"
#include "exec/operators/ann_ivf_sub_index_operator.h"
#include "exec/operators/memory_scan_operator.h"
#include "exec/operators/operator_fixture.h"

namespace kinjo::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Five partitions around (10 p, 0), of 4 rows each: row 5 i + p lies in partition p.
Vectors GridRows() {
  Vectors rows;
  for (int i = 0; i < 4; ++i) {
    for (int p = 0; p < 5; ++p) {
      rows.push_back({10.0f * static_cast<float>(p), 0.5f * static_cast<float>(i)});
    }
  }
  return rows;
}

Vectors GridCentroids() { return {{0, 0}, {10, 0}, {20, 0}, {30, 0}, {40, 0}}; }

/// Two segments: rows 0 to 9 and rows 10 to 19.
std::shared_ptr<MemoryDataset> GridDataset(const std::string& metric = "l2") {
  std::vector<int64_t> ids(20);
  for (int64_t i = 0; i < 20; ++i) ids[i] = i;
  auto dataset =
      std::make_shared<MemoryDataset>(MakeBatch({{"id", MakeArray<arrow::Int64Builder>(ids)},
                                                 {"vector", MakeVectors(GridRows(), 2)}}),
                                      10);
  dataset->AddIndex("grid", "vector", metric, {{0}, {1}}, GridCentroids());
  return dataset;
}

VectorQuery GridQuery() {
  VectorQuery query;
  query.column = "vector";
  query.vector = {1, 0};
  query.k = 3;
  return query;
}

arrow::Result<OperatorPtr> Partition(const std::shared_ptr<MemoryDataset>& dataset,
                                     const VectorQuery& query) {
  return AnnIvfPartitionOperator::Make(dataset, {"grid-0", "grid-1"}, query);
}

arrow::Result<OperatorPtr> SubIndex(const std::shared_ptr<MemoryDataset>& dataset,
                                    const VectorQuery& query, const Prefilter& prefilter = {}) {
  ARROW_ASSIGN_OR_RAISE(auto input, Partition(dataset, query));
  return AnnIvfSubIndexOperator::Make(input, dataset, dataset->vector_indexes()[0], query,
                                      prefilter);
}

Prefilter MaskOf(const MemoryDataset& dataset, const std::vector<int64_t>& rows) {
  auto mask = std::make_shared<dataset::RowMask>();
  for (const int64_t row : rows) mask->Add(dataset.AddressOf(row));
  return Prefilter::Masked(mask);
}

std::vector<int64_t> RowsOf(const MemoryDataset& dataset, const arrow::RecordBatch& batch) {
  std::vector<int64_t> rows;
  const auto& ids = ColumnOf<arrow::UInt64Array>(batch, kRowIdColumn);
  for (int64_t i = 0; i < ids.length(); ++i) rows.push_back(dataset.RowOf(ids.Value(i)));
  return rows;
}

TEST(AnnIvfPartitionOperator, RanksEveryPartitionOfEachSegmentInTurn) {
  const auto dataset = GridDataset();
  KINJO_ASSERT_RESULT(op, Partition(dataset, GridQuery()));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  ASSERT_EQ(batches.size(), 2);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(batches[i]->ValidateFull().ok());
    EXPECT_TRUE(batches[i]->schema()->Equals(*PartitionSchema()));
    EXPECT_EQ(batches[i]->column(0)->ToString(),
              "[\n  [\n    0,\n    1,\n    2,\n    3,\n    4\n  ]\n]");
    EXPECT_EQ(batches[i]->column(1)->ToString(),
              "[\n  [\n    1,\n    81,\n    361,\n    841,\n    1521\n  ]\n]");
    EXPECT_EQ(ColumnOf<arrow::StringArray>(*batches[i], kIndexUuidColumn).GetString(0),
              base::Concat("grid-", i));
  }
  EXPECT_EQ(test.run.Total(kPartitionsRanked), 10);
  EXPECT_EQ(test.run.Total(kDeltasSearched), 2);
  EXPECT_EQ(test.run.FindMetrics(op.get())->output_rows, 2);
}

TEST(AnnIvfPartitionOperator, TheSchema) {
  EXPECT_EQ(PartitionSchema()->ToString(),
            "__ivf_part_id: list<item: uint32 not null> not null\n"
            "__dist_q_c: list<item: float not null> not null\n"
            "__index_uuid: string not null");
  EXPECT_EQ(NeighborSchema()->ToString(), "_distance: float\n_rowid: uint64");
}

TEST(AnnIvfPartitionOperator, EmitsAtMostTheMaximumAndCountsAll) {
  VectorQuery query = GridQuery();
  query.maximum_nprobes = 2;
  KINJO_ASSERT_RESULT(op, Partition(GridDataset(), query));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  EXPECT_EQ(batches[1]->column(0)->ToString(), "[\n  [\n    0,\n    1\n  ]\n]");
  EXPECT_EQ(test.run.Total(kPartitionsRanked), 10);
}

TEST(AnnIvfPartitionOperator, CosineNormalisesTheQuery) {
  VectorQuery query = GridQuery();
  query.metric = kernels::Metric::kCosine;
  query.vector = {0, 1000};
  KINJO_ASSERT_RESULT(op, Partition(GridDataset("cosine"), query));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  // The squared distance of (0, 1) to the centroid at the origin is 1, to (10, 0) it is 101.
  EXPECT_EQ(batches[0]->column(1)->Slice(0, 1)->ToString(),
            "[\n  [\n    1,\n    101,\n    401,\n    901,\n    1601\n  ]\n]");
}

TEST(AnnIvfPartitionOperator, AQueryThatCannotMatchGetsNoPartition) {
  VectorQuery query = GridQuery();
  query.vector = {NAN, 0};
  const auto dataset = GridDataset();
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query, MaskOf(*dataset, {1})));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  EXPECT_TRUE(batches.empty());
  EXPECT_EQ(test.run.Total(kPartitionsSearched), 0);
}

TEST(AnnIvfPartitionOperator, ExplainsItself) {
  VectorQuery query = GridQuery();
  query.minimum_nprobes = 2;
  KINJO_ASSERT_RESULT(unbounded, Partition(GridDataset(), query));
  const std::string line =
      "ANNIvfPartition: uuid=grid-0, minimum_nprobes=2, maximum_nprobes=None, deltas=2\n";
  EXPECT_EQ(RenderPlan(unbounded->Describe(), {}), line);
  EXPECT_EQ(RenderPlan(unbounded->Describe(), {.details = true}), line);
  query.maximum_nprobes = 20;
  KINJO_ASSERT_RESULT(bounded, Partition(GridDataset(), query));
  EXPECT_EQ(RenderPlan(bounded->Describe(), {}),
            "ANNIvfPartition: uuid=grid-0, minimum_nprobes=2, maximum_nprobes=Some(20), "
            "deltas=2\n");
  EXPECT_EQ(RenderPlan(bounded->Describe(), {.field_lines = true}),
            "ANNIvfPartition\nuuid=grid-0\nminimum_nprobes=2\nmaximum_nprobes=Some(20)\n"
            "deltas=2\n");
  EXPECT_FALSE(bounded->supports_limit_pushdown());
  EXPECT_EQ(bounded->statistics().num_rows, Estimate::Exact(2));
}

TEST(AnnIvfPartitionOperator, ErrorsAreNamed) {
  const auto dataset = GridDataset();
  auto made = AnnIvfPartitionOperator::Make(dataset, {}, GridQuery());
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kNotFound);
  EXPECT_EQ(base::MessageOf(made.status()),
            "ANNIVFPartitionExec node: no index found for query on column \"vector\" of "
            "memory.lance");
  made = AnnIvfPartitionOperator::Make(dataset, {"grid-7"}, GridQuery());
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kNotFound);
  EXPECT_THAT(base::MessageOf(made.status()), HasSubstr("grid-7"));
  VectorQuery query = GridQuery();
  query.column = "vec";
  made = Partition(dataset, query);
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kNotFound);
  EXPECT_EQ(base::MessageOf(made.status()),
            "column \"vec\" is not in memory.lance; its columns are id, vector");
  query.column = "id";
  made = Partition(dataset, query);
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kInvalid);
  EXPECT_THAT(base::MessageOf(made.status()), HasSubstr("is int64, not a vector"));
  query = GridQuery();
  query.num_vectors = 2;
  EXPECT_EQ(base::CodeOf(Partition(dataset, query).status()), base::ErrorCode::kInvalid);

  KINJO_ASSERT_RESULT(op, Partition(dataset, GridQuery()));
  const auto changed = op->WithNewInputs({op});
  EXPECT_EQ(base::MessageOf(changed.status()),
            "ANNIVFPartitionExec node does not accept children; it was given 1");
  KINJO_ASSERT_RESULT(same, op->WithNewInputs({}));
  EXPECT_EQ(same, op);

  query = GridQuery();
  query.vector = {1, 2, 3};
  KINJO_ASSERT_RESULT(wide, Partition(dataset, query));
  TestRun test;
  const auto run = CollectBatches(*wide, &test.run);
  EXPECT_EQ(base::MessageOf(run.status()),
            "the query for column \"vector\" has 3 elements, but index \"grid\" has 2");
}

TEST(AnnIvfSubIndexOperator, EmitsABatchAPartitionSoMayGiveMoreThanK) {
  const auto dataset = GridDataset();
  VectorQuery query = GridQuery();
  query.k = 1;
  query.minimum_nprobes = 2;
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  ASSERT_EQ(batches.size(), 4);  // one row of each of two partitions of two segments
  KINJO_ASSERT_RESULT(rows, arrow::ConcatenateRecordBatches(batches));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(0, 1, 10, 11));
  EXPECT_EQ(test.run.Total(kPartitionsSearched), 4);
  EXPECT_EQ(test.run.Total(kPartsLoaded), 4);
  EXPECT_EQ(test.run.Total(kIndexComparisons), 8);
  EXPECT_EQ(test.run.FindMetrics(op.get())->output_rows, 4);
}

TEST(AnnIvfSubIndexOperator, TheLateSearchTakesOnePartitionASegmentAndRound) {
  const auto dataset = GridDataset();
  VectorQuery query = GridQuery();
  query.k = 5;  // the early search finds 2 + 2 rows
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(0, 5, 10, 15, 1, 6, 11, 16));
  EXPECT_EQ(test.run.Total(kPartitionsSearched), 4);
}

TEST(AnnIvfSubIndexOperator, EqualMinimumAndMaximumMeanNoLateSearch) {
  const auto dataset = GridDataset();
  VectorQuery query = GridQuery();
  query.k = 5;
  query.maximum_nprobes = 1;
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query, MaskOf(*dataset, {0, 3})));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(0));  // and row 3 not at infinity
  EXPECT_EQ(test.run.Total(kPartitionsSearched), 2);
}

TEST(AnnIvfSubIndexOperator, UnreachedRowsOfTheFilterComeOnceOverAllSegments) {
  const auto dataset = GridDataset();
  VectorQuery query = GridQuery();
  query.k = 4;
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query, MaskOf(*dataset, {13, 0, 4})));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(0, 4, 13));
  const auto& distances = ColumnOf<arrow::FloatArray>(*rows, kDistanceColumn);
  EXPECT_EQ(distances.Value(0), 1);
  EXPECT_EQ(distances.Value(1), std::numeric_limits<float>::infinity());
  EXPECT_EQ(distances.Value(2), std::numeric_limits<float>::infinity());
  EXPECT_EQ(test.run.Total(kPartitionsSearched), 2);
  EXPECT_EQ(test.run.Total(kPrefilterRowIds), 3);
}

TEST(AnnIvfSubIndexOperator, RowsOfTheFilterOutsideOfTheIndexDoNotCount) {
  auto dataset = GridDataset();
  dataset->mutable_indexes()[0].segments.pop_back();
  VectorQuery query = GridQuery();
  query.k = 4;
  KINJO_ASSERT_RESULT(input, AnnIvfPartitionOperator::Make(dataset, {"grid-0"}, query));
  KINJO_ASSERT_RESULT(op, AnnIvfSubIndexOperator::Make(input, dataset, dataset->vector_indexes()[0],
                                                       query, MaskOf(*dataset, {0, 13})));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(0));
}

TEST(AnnIvfSubIndexOperator, ADistanceRangeIsSearchedToItsEnd) {
  const auto dataset = GridDataset();
  VectorQuery query = GridQuery();
  query.k = 4;
  query.distance_range = DistanceRange::HalfOpen(100, 850);
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query, MaskOf(*dataset, {0, 2, 3})));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(2, 3));  // at 361 and 841, none at infinity
}

TEST(AnnIvfSubIndexOperator, DeletedRowsNeverPushOutLiveOnes) {
  const auto dataset = GridDataset();
  dataset->Delete(0);
  dataset->Delete(5);
  VectorQuery query = GridQuery();
  query.k = 1;
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_THAT(RowsOf(*dataset, *rows), ElementsAre(10));
}

TEST(AnnIvfSubIndexOperator, TheAdaptiveFirstRoundSaysSo) {
  VectorQuery query = GridQuery();
  query.adaptive_nprobes = true;
  query.maximum_nprobes = 4;
  KINJO_ASSERT_RESULT(op, SubIndex(GridDataset(), query));
  EXPECT_EQ(RenderPlan(op->Describe(), {}),
            "ANNSubIndex: name=grid, k=3, deltas=2, first_round=adaptive\n");
  TestRun test;
  ASSERT_TRUE(CollectBatches(*op, &test.run).ok());
  EXPECT_EQ(test.run.Total(kPartitionsSearched), 8);  // its floor is above the maximum

  query.search_effort = 0;
  KINJO_ASSERT_RESULT(least, SubIndex(GridDataset(), query));
  EXPECT_EQ(RenderPlan(least->Describe(), {}),
            "ANNSubIndex: name=grid, k=3, deltas=2, first_round=adaptive, search_effort=0\n");
  TestRun other;
  ASSERT_TRUE(CollectBatches(*least, &other.run).ok());
  EXPECT_EQ(other.run.Total(kPartitionsSearched), 2);
}

TEST(AnnIvfSubIndexOperator, ExplainsItself) {
  VectorQuery query = GridQuery();
  query.refine_factor = 5;
  KINJO_ASSERT_RESULT(op, SubIndex(GridDataset(), query));
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "ANNSubIndex: name=grid, k=15, deltas=2\n");
  EXPECT_EQ(RenderPlan(op->Describe(), {.details = true}),
            "ANNSubIndex: name=grid, k=15, deltas=2\n");
  EXPECT_EQ(RenderPlan(op->Describe(), {.field_lines = true}),
            "ANNSubIndex\nname=grid\nk=15\ndeltas=2\n");
  EXPECT_EQ(RenderPlan(DescribePlan(*op), {}),
            "ANNSubIndex: name=grid, k=15, deltas=2\n"
            "  ANNIvfPartition: uuid=grid-0, minimum_nprobes=1, maximum_nprobes=None, deltas=2\n");
  EXPECT_FALSE(op->supports_limit_pushdown());
  EXPECT_EQ(op->statistics().num_rows, Estimate::Inexact(30));
  EXPECT_TRUE(op->schema()->Equals(*NeighborSchema()));
}

TEST(AnnIvfSubIndexOperator, AnInputWithoutPartitionsIsNamed) {
  const auto dataset = GridDataset();
  const auto batch = MakeBatch({{"a", MakeArray<arrow::UInt64Builder>(std::vector<uint64_t>{1})}});
  KINJO_ASSERT_RESULT(scan, MemoryScanOperator::Make(batch->schema(), {batch}));
  auto made =
      AnnIvfSubIndexOperator::Make(scan, dataset, dataset->vector_indexes()[0], GridQuery(), {});
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::MessageOf(made.status()),
            "ANNSubIndexExec node: input schema does not have \"__ivf_part_id\" column of type "
            "list<item: uint32 not null>");
  dataset::IndexInfo empty = dataset->vector_indexes()[0];
  empty.segments.clear();
  KINJO_ASSERT_RESULT(input, Partition(dataset, GridQuery()));
  made = AnnIvfSubIndexOperator::Make(input, dataset, empty, GridQuery(), {});
  EXPECT_EQ(base::MessageOf(made.status()), "ANNSubIndexExec node: index \"grid\" has no segment");
}

TEST(AnnIvfSubIndexOperator, AWrongNumberOfChildrenIsNamed) {
  const auto dataset = GridDataset();
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, GridQuery()));
  KINJO_ASSERT_RESULT(input, Partition(dataset, GridQuery()));
  for (const auto& inputs : {std::vector<OperatorPtr>{}, {input, input, input}}) {
    EXPECT_EQ(base::MessageOf(op->WithNewInputs(inputs).status()),
              base::Concat("ANNSubIndexExec node must have exactly one or two (prefilter) "
                           "children; it was given ",
                           inputs.size()));
  }
  EXPECT_TRUE(op->WithNewInputs({input}).ok());
}

TEST(AnnIvfSubIndexOperator, APartitionThatCannotBeLoadedIsNamed) {
  const auto dataset = GridDataset();
  dataset->files("grid-1").BreakPartition(1);
  VectorQuery query = GridQuery();
  query.minimum_nprobes = 2;
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, query));
  TestRun test;
  const auto rows = CollectBatches(*op, &test.run);
  EXPECT_EQ(base::CodeOf(rows.status()), base::ErrorCode::kIo);
  EXPECT_EQ(base::MessageOf(rows.status()),
            "Failed to calculate KNN: partition 1 of index segment grid-1: the disk is gone");
}

TEST(AnnIvfSubIndexOperator, PartitionsThatDoNotExistAreNamed) {
  const auto dataset = GridDataset();
  auto items = std::make_shared<arrow::UInt32Builder>();
  arrow::ListBuilder parts(arrow::default_memory_pool(), items,
                           PartitionSchema()->field(0)->type());
  ASSERT_TRUE(parts.Append().ok() && items->Append(5).ok());
  auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder distances(arrow::default_memory_pool(), values,
                               PartitionSchema()->field(1)->type());
  ASSERT_TRUE(distances.Append().ok() && values->Append(1).ok());
  const auto batch = arrow::RecordBatch::Make(
      PartitionSchema(), 1,
      {parts.Finish().ValueOrDie(), distances.Finish().ValueOrDie(),
       MakeArray<arrow::StringBuilder>(std::vector<std::string>{"grid-0"})});
  KINJO_ASSERT_RESULT(scan, MemoryScanOperator::Make(PartitionSchema(), {batch}));
  KINJO_ASSERT_RESULT(op, AnnIvfSubIndexOperator::Make(scan, dataset, dataset->vector_indexes()[0],
                                                       GridQuery(), {}));
  TestRun test;
  EXPECT_EQ(base::MessageOf(CollectBatches(*op, &test.run).status()),
            "ANNSubIndexExec node: partition 5 of index segment grid-0, which has 5");
}

TEST(AnnIvfSubIndexOperator, RunsAtOnceDoNotShareState) {
  const auto dataset = GridDataset();
  KINJO_ASSERT_RESULT(op, SubIndex(dataset, GridQuery()));
  TestRun first;
  TestRun second;
  KINJO_ASSERT_RESULT(one, op->Open(&first.run));
  KINJO_ASSERT_RESULT(a, one->Next());
  KINJO_ASSERT_RESULT(two, op->Open(&second.run));
  KINJO_ASSERT_RESULT(b, two->Next());
  EXPECT_TRUE(a->Equals(*b));
  while (a != nullptr) {
    KINJO_ASSERT_RESULT(next, one->Next());
    a = next;
  }
  EXPECT_EQ(first.run.Total(kPartitionsSearched), 2);
  EXPECT_EQ(second.run.Total(kPartitionsSearched), 1);
}

TEST(AnnIvfSubIndexOperator, ACancelledRunEnds) {
  KINJO_ASSERT_RESULT(op, SubIndex(GridDataset(), GridQuery()));
  base::ThreadPool pool(1);
  const base::CancelToken cancel;
  PlanRun run(&pool, cancel);
  cancel.Cancel();
  EXPECT_EQ(base::CodeOf(CollectBatches(*op, &run).status()), base::ErrorCode::kCancelled);
}

}  // namespace
}  // namespace kinjo::exec
