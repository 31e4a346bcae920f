// What comes out of a join: rows, order, nulls, names, batches.
#include <gtest/gtest.h>

#include "join/brute_force.h"
#include "join/explain.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

JoinOptions Options() {
  JoinOptions options;
  options.k = 2;
  options.threads = 1;
  options.memory_limit_bytes = int64_t{1} << 28;
  return options;
}

std::shared_ptr<MemoryTable> Table(const std::string& id, const Vectors& vectors, int32_t dim,
                                   const std::string& uri) {
  return std::make_shared<MemoryTable>(MakeVectorBatch(id, "v", vectors, arrow::float32(), dim),
                                       uri, 3);
}

arrow::Result<JoinOutcome> Join(const Vectors& left, const Vectors& right,
                                const JoinOptions& options) {
  return RunJoin(Table("id", left, 2, "left"), MakeTableSide(Table("id", right, 2, "right")),
                 options);
}

TEST(Output, LeftKeepsRowsWithoutMatchInOrder) {
  const Vectors left = {{0, 0}, {}, {5, 5}, {NAN, 0}};
  const Vectors right = {{0, 1}, {5, 4}, {}};
  JoinOptions options = Options();
  options.how = How::kLeft;
  options.with_row_id = options.with_query_index = true;
  KINJO_ASSERT_RESULT(got, Join(left, right, options));
  const arrow::Table& table = *got.table;
  ASSERT_EQ(table.num_rows(), 6);
  EXPECT_EQ(ColumnOf<arrow::Int64Array>(table, "id").ToString(),
            "[\n  0,\n  0,\n  1,\n  2,\n  2,\n  3\n]");
  EXPECT_EQ(ColumnOf<arrow::Int64Array>(table, "id_right").ToString(),
            "[\n  0,\n  1,\n  null,\n  1,\n  0,\n  null\n]");
  EXPECT_EQ(ColumnOf<arrow::FloatArray>(table, "_distance").ToString(),
            "[\n  1,\n  41,\n  null,\n  1,\n  41,\n  null\n]");
  EXPECT_EQ(ColumnOf<arrow::Int32Array>(table, "_rank").ToString(),
            "[\n  1,\n  2,\n  null,\n  1,\n  2,\n  null\n]");
  EXPECT_EQ(ColumnOf<arrow::UInt64Array>(table, "_rowid").ToString(),
            "[\n  0,\n  1,\n  null,\n  1,\n  0,\n  null\n]");
  EXPECT_EQ(ColumnOf<arrow::Int64Array>(table, "_query_index").ToString(),
            "[\n  0,\n  0,\n  1,\n  2,\n  2,\n  3\n]");
  EXPECT_EQ(got.report.result_rows, 6);
  options.how = How::kInner;
  KINJO_ASSERT_RESULT(inner, Join(left, right, options));
  EXPECT_EQ(inner.table->num_rows(), 4);
}

TEST(Output, EmptySidesHaveTheSameSchema) {
  const Vectors some = {{1, 2}, {3, 4}};
  for (const How how : {How::kInner, How::kLeft}) {
    JoinOptions options = Options();
    options.how = how;
    KINJO_ASSERT_RESULT(full, Join(some, some, options));
    KINJO_ASSERT_RESULT(no_left, Join({}, some, options));
    KINJO_ASSERT_RESULT(no_right, Join(some, {}, options));
    EXPECT_TRUE(full.table->schema()->Equals(no_left.table->schema()));
    EXPECT_TRUE(full.table->schema()->Equals(no_right.table->schema()));
    EXPECT_EQ(no_left.table->num_rows(), 0);
    EXPECT_EQ(no_right.table->num_rows(), how == How::kLeft ? 2 : 0);
    EXPECT_EQ(no_right.report.short_rows, 2);
  }
}

TEST(Output, KAboveTheRightSideGivesEveryRow) {
  JoinOptions options = Options();
  options.k = 1000;
  KINJO_ASSERT_RESULT(got, Join({{0, 0}}, {{3, 0}, {1, 0}, {2, 0}}, options));
  EXPECT_EQ(ColumnOf<arrow::Int64Array>(*got.table, "id_right").ToString(),
            "[\n  1,\n  2,\n  0\n]");
}

TEST(Output, BatchesAreBoundedAndInLeftOrder) {
  const Vectors left = IntegerVectors(3000, 2, 1);
  const Vectors right = IntegerVectors(50, 2, 2);
  JoinOptions options = Options();
  options.k = 20;
  auto plan = MakePlan(Table("id", left, 2, "left"), MakeTableSide(Table("id", right, 2, "right")),
                       options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  Executor executor(*plan, {});
  int64_t next = 0;
  ASSERT_TRUE(executor
                  .Run({},
                       [&](const std::shared_ptr<arrow::RecordBatch>& batch) {
                         EXPECT_LE(batch->num_rows(), kOutputBatchRows);
                         const auto& id =
                             static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("id"));
                         for (int64_t i = 0; i < batch->num_rows(); ++i) {
                           EXPECT_EQ(id.Value(i), next++ / 20);
                         }
                         return arrow::Status::OK();
                       })
                  .ok());
  EXPECT_EQ(next, 60000);
}

TEST(Output, ProgressEndsAtTheTotal) {
  const Vectors left = IntegerVectors(10, 2, 1);
  auto plan = MakePlan(Table("id", left, 2, "left"), MakeTableSide(Table("id", left, 2, "right")),
                       Options());
  ASSERT_TRUE(plan.ok()) << plan.status();
  base::Progress last;
  Executor executor(*plan, [&](const base::Progress& progress) { last = progress; });
  ASSERT_TRUE(
      executor
          .Run({}, [](const std::shared_ptr<arrow::RecordBatch>&) { return arrow::Status::OK(); })
          .ok());
  EXPECT_EQ(last.done_rows, 10);
  EXPECT_EQ(last.total_rows, 10);
}

TEST(Output, AMemoryLimitTooSmallIsRefusedBeforeARowIsRead) {
  JoinOptions options = Options();
  options.memory_limit_bytes = 1000;
  const auto refused = Join({{0, 0}}, {{1, 1}}, options);
  EXPECT_EQ(base::CodeOf(refused.status()), base::ErrorCode::kCapacity);
}

TEST(Output, ExplainNamesThePathAndTheReason) {
  const Vectors left = IntegerVectors(10, 5, 1);
  auto dataset = std::make_shared<MemoryDataset>(IntegerVectors(100, 5, 2), 40, 5);
  dataset->AddIndex("old", "dot", {{0}}, IntegerVectors(3, 5, 3));
  dataset->AddIndex("vec", "l2", {{0}, {1}}, IntegerVectors(4, 5, 4));
  JoinOptions options = Options();
  options.metric = kernels::Metric::kL2;
  options.refine_factor = 3;
  auto plan = MakePlan(Table("id", left, 5, "left"), MakeDatasetSide(dataset), options);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(exec::RenderPlan(DescribePlan(**plan, false, nullptr), {}),
            "KnnJoin: path=index, k=2, metric=l2, how=inner, right=memory.lance, version=1\n"
            "  Take: columns=[id]\n"
            "    Refine: refine_factor=3, candidates=6, k=2\n"
            "      ANNIvfBatch: name=vec, type=IVF_FLAT, metric=l2, k=6, deltas=2\n"
            "        ANNIvfPartition: nprobes=adaptive, partitions=8, deltas=2\n"
            "          LeftScan: uri=left, format=memory, vector=v, rows=10\n"
            "      KNNVectorDistance: metric=l2, k=2, column=vector, fragments=1, rows=20\n");
  const std::string text =
      exec::RenderPlan(DescribePlan(**plan, false, nullptr), {.details = true});
  EXPECT_NE(text.find("path: index; index \"vec\" (IVF_FLAT, l2) fits"), std::string::npos) << text;
  EXPECT_NE(text.find("not taken: \"old\" (IVF_FLAT, dot): its metric is dot, but metric = l2"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("limits: estimated memory "), std::string::npos) << text;
  EXPECT_NE(text.find(", 1 thread: runs"), std::string::npos) << text;
  EXPECT_EQ(text.find("gate: "), std::string::npos) << text;
  const std::string verbose =
      exec::RenderPlan(DescribePlan(**plan, true, nullptr), {.details = true});
  EXPECT_NE(verbose.find("gate: resident: "), std::string::npos) << verbose;

  options.index = IndexUse::kNever;
  auto exact = MakePlan(Table("id", left, 5, "left"), MakeDatasetSide(dataset), options);
  ASSERT_TRUE(exact.ok()) << exact.status();
  EXPECT_EQ(exec::RenderPlan(DescribePlan(**exact, false, nullptr), {}),
            "KnnJoin: path=exact, k=2, metric=l2, how=inner, right=memory.lance, version=1\n"
            "  Take: columns=[id]\n"
            "    ExactFallback: reason=\"index = never\"\n"
            "      KNNVectorDistance: metric=l2, k=2, column=vector, rows=100\n"
            "        LeftScan: uri=left, format=memory, vector=v, rows=10\n");
}

TEST(Output, TheIndexIsChosenByTheRulesAndRefusalsSayWhy) {
  const Vectors left = IntegerVectors(10, 5, 1);
  auto dataset = std::make_shared<MemoryDataset>(IntegerVectors(100, 5, 2), 100, 5);
  const auto plan_with = [&](const JoinOptions& options) {
    return MakePlan(Table("id", left, 5, "left"), MakeDatasetSide(dataset), options);
  };
  JoinOptions options = Options();
  options.index = IndexUse::kRequire;
  EXPECT_EQ(base::CodeOf(plan_with(options).status()), base::ErrorCode::kRefused);
  dataset->AddIndex("first", "l2", {{0}}, IntegerVectors(3, 5, 3));
  dataset->AddIndex("second", "l2", {{0}}, IntegerVectors(3, 5, 4));
  dataset->AddIndex("third", "dot", {{0}}, IntegerVectors(3, 5, 5));
  dataset->mutable_indexes()[0].segments[0].dataset_version = 7;
  options.metric = kernels::Metric::kL2;
  auto newest = plan_with(options);
  ASSERT_TRUE(newest.ok()) << newest.status();
  EXPECT_EQ((*newest)->choice.index->info.name, "first");
  options.index = IndexUse::kNamed;
  options.index_name = "second";
  EXPECT_EQ((*plan_with(options))->choice.index->info.name, "second");
  options.index_name = "third";
  EXPECT_EQ(base::CodeOf(plan_with(options).status()), base::ErrorCode::kRefused);
  options.index_name = "fourth";
  const auto missing = plan_with(options).status();
  EXPECT_EQ(base::CodeOf(missing), base::ErrorCode::kNotFound);
  EXPECT_EQ(base::MessageOf(missing),
            "index: there is no vector index \"fourth\" on the right side; there are: first, "
            "second, third");
  options.index = IndexUse::kAuto;
  options.metric = kernels::Metric::kCosine;
  EXPECT_FALSE((*plan_with(options))->uses_index());
  options.fast_search = true;
  EXPECT_EQ(base::CodeOf(plan_with(options).status()), base::ErrorCode::kInvalid);
}

TEST(Output, ASegmentThatCoversNothingIsNotOpened) {
  const Vectors left = IntegerVectors(10, 5, 1);
  auto dataset = std::make_shared<MemoryDataset>(IntegerVectors(100, 5, 2), 100, 5);
  dataset->AddIndex("vec", "cosine", {{0}, {}}, IntegerVectors(3, 5, 3));
  auto half = MakePlan(Table("id", left, 5, "left"), MakeDatasetSide(dataset), Options());
  ASSERT_TRUE(half.ok()) << half.status();
  ASSERT_TRUE((*half)->uses_index());
  EXPECT_EQ((*half)->choice.index->segments.size(), 1U);
  EXPECT_EQ((*half)->choice.index->info.segments.size(), 1U);
  dataset->mutable_indexes()[0].segments[0].fragment_ids.clear();
  auto none = MakePlan(Table("id", left, 5, "left"), MakeDatasetSide(dataset), Options());
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE((*none)->uses_index());
  EXPECT_EQ((*none)->choice.metric, kernels::Metric::kCosine);
  EXPECT_NE((*none)->choice.reason.find("covers no fragment"), std::string::npos);
}

TEST(Output, LeavingTheIndexOutDoesNotChangeTheMetric) {
  const Vectors left = IntegerVectors(10, 5, 1);
  auto dataset = std::make_shared<MemoryDataset>(IntegerVectors(100, 5, 2), 100, 5);
  const auto metric_with = [&](IndexUse use) {
    JoinOptions options = Options();
    options.index = use;
    auto plan = MakePlan(Table("id", left, 5, "left"), MakeDatasetSide(dataset), options);
    EXPECT_TRUE(plan.ok()) << plan.status();
    return (*plan)->choice.metric;
  };
  EXPECT_EQ(metric_with(IndexUse::kNever), kernels::Metric::kL2);
  dataset->AddIndex("vec", "cosine", {{0}}, IntegerVectors(3, 5, 3));
  EXPECT_EQ(metric_with(IndexUse::kAuto), kernels::Metric::kCosine);
  EXPECT_EQ(metric_with(IndexUse::kNever), kernels::Metric::kCosine);
  dataset->mutable_indexes()[0].unusable_reason = "its type is IVF_HNSW_SQ";
  EXPECT_EQ(metric_with(IndexUse::kAuto), kernels::Metric::kCosine);
  dataset->AddIndex("usable", "dot", {{0}}, IntegerVectors(3, 5, 4));
  dataset->mutable_indexes()[0].segments[0].dataset_version = 7;
  EXPECT_EQ(metric_with(IndexUse::kAuto), kernels::Metric::kDot);
  EXPECT_EQ(metric_with(IndexUse::kNever), kernels::Metric::kDot);
}

}  // namespace
}  // namespace kinjo::join
