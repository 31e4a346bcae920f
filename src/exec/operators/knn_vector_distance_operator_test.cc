#include "exec/operators/knn_vector_distance_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "exec/operators/dataset_scan_operator.h"
#include "exec/operators/memory_scan_operator.h"
#include "exec/operators/nearest_plan.h"
#include "exec/operators/operator_fixture.h"
#include "exec/operators/row_gather.h"

namespace kinjo::exec {
namespace {

constexpr int32_t kWidth = 128;

std::shared_ptr<arrow::Schema> KeyVectorUri() {
  return arrow::schema({arrow::field("key", arrow::int32(), false),
                        arrow::field("vector", arrow::fixed_size_list(arrow::float32(), kWidth)),
                        arrow::field("uri", arrow::utf8())});
}

VectorQuery Query(std::vector<double> vector, kernels::Metric metric = kernels::Metric::kL2) {
  VectorQuery query;
  query.column = "vector";
  query.vector = std::move(vector);
  query.metric = metric;
  return query;
}

OperatorPtr MemoryScan(const arrow::RecordBatchVector& batches) {
  return MemoryScanOperator::Make(batches[0]->schema(), batches).ValueOrDie();
}

TEST(KnnVectorDistanceOperator, FlatSearchGivesTheNearestRowsWithAllColumns) {
  std::mt19937_64 random(1);
  std::normal_distribution<float> normal;
  Vectors vectors(400, std::vector<float>(kWidth));
  std::vector<int32_t> keys;
  std::vector<std::string> uris;
  for (auto& vector : vectors) {
    for (float& value : vector) value = normal(random);
    uris.push_back("s3://bucket/file-" + std::to_string(keys.size()));
    keys.push_back(static_cast<int32_t>(keys.size()));
  }
  const auto rows =
      arrow::RecordBatch::Make(KeyVectorUri(), 400,
                               {MakeArray<arrow::Int32Builder>(keys), MakeVectors(vectors, kWidth),
                                MakeArray<arrow::StringBuilder>(uris)});
  const auto dataset = std::make_shared<MemoryDataset>(rows, 40);  // 10 files of 40
  NearestRequest request;
  request.query = Query({vectors[5].begin(), vectors[5].end()});
  request.columns = {"key", "vector", "uri"};
  KINJO_ASSERT_RESULT(plan, MakeNearestPlan(dataset, request));
  TestRun test(2);
  KINJO_ASSERT_RESULT(batches, CollectBatches(*plan, &test.run));
  ASSERT_EQ(batches.size(), 1);

  std::vector<std::pair<float, int64_t>> order;
  for (int64_t i = 0; i < 400; ++i) order.emplace_back(PlainL2(vectors[5], vectors[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<int64_t> best;
  std::vector<float> distances;
  for (int i = 0; i < 10; ++i) {
    distances.push_back(order[i].first);
    best.push_back(order[i].second);
  }
  KINJO_ASSERT_RESULT(expected, GatherRows(*rows, best));
  KINJO_ASSERT_RESULT(
      with_distance,
      expected->AddColumn(3, kDistanceColumn, MakeArray<arrow::FloatBuilder>(distances)));
  EXPECT_TRUE(batches[0]->Equals(*with_distance)) << batches[0]->ToString();
}

TEST(KnnVectorDistanceOperator, TheSchemaOverAnEmptyInput) {
  const auto input = MemoryScan({arrow::RecordBatch::MakeEmpty(KeyVectorUri()).ValueOrDie()});
  KINJO_ASSERT_RESULT(
      op, KnnVectorDistanceOperator::Make(input, Query(std::vector<double>(kWidth, 1.0))));
  const auto expected = arrow::schema(
      {arrow::field("key", arrow::int32(), false),
       arrow::field("vector", arrow::fixed_size_list(arrow::float32(), kWidth)),
       arrow::field("uri", arrow::utf8()), arrow::field("_distance", arrow::float32(), true)});
  EXPECT_TRUE(op->schema()->Equals(*expected)) << op->schema()->ToString();
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  EXPECT_TRUE(batches.empty());
}

arrow::RecordBatchVector SmallBatches() {
  const Vectors vectors = {{1, 0}, {}, {0, 2}, {NAN, 1}, {0, 0}};
  const auto rows =
      MakeBatch({{"_distance", MakeArray<arrow::Int64Builder>(std::vector<int64_t>{9, 8, 7, 6, 5})},
                 {"vector", MakeVectors(vectors, 2)},
                 {"id", MakeArray<arrow::Int64Builder>(std::vector<int64_t>{0, 1, 2, 3, 4})}});
  return {rows->Slice(0, 0), rows->Slice(0, 2), rows->Slice(2, 0), rows->Slice(2, 3)};
}

TEST(KnnVectorDistanceOperator, ReplacesAnOldDistanceAndSkipsEmptyBatches) {
  KINJO_ASSERT_RESULT(op,
                      KnnVectorDistanceOperator::Make(MemoryScan(SmallBatches()), Query({1, 0})));
  TestRun test;
  KINJO_ASSERT_RESULT(batches, CollectBatches(*op, &test.run));
  EXPECT_EQ(batches.size(), 2);
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  EXPECT_EQ(rows->schema()->field_names(), (std::vector<std::string>{"vector", "id", "_distance"}));
  const auto& distances = ColumnOf<arrow::FloatArray>(*rows, kDistanceColumn);
  EXPECT_EQ(distances.Value(0), 0);
  EXPECT_TRUE(distances.IsNull(1));
  EXPECT_EQ(distances.Value(2), 5);
  EXPECT_TRUE(std::isnan(distances.Value(3)));
  EXPECT_EQ(distances.Value(4), 1);
}

TEST(KnnVectorDistanceOperator, ZeroVectorsMatchNothingUnderCosine) {
  KINJO_ASSERT_RESULT(op, KnnVectorDistanceOperator::Make(MemoryScan(SmallBatches()),
                                                          Query({3, 0}, kernels::Metric::kCosine)));
  TestRun test;
  KINJO_ASSERT_RESULT(rows, RunPlan(*op, &test.run));
  const auto& distances = ColumnOf<arrow::FloatArray>(*rows, kDistanceColumn);
  EXPECT_EQ(distances.Value(0), 0);
  EXPECT_EQ(distances.Value(2), 1);
  EXPECT_TRUE(std::isnan(distances.Value(4)));
  for (const std::vector<double>& query : {std::vector<double>{0, 0}, {NAN, 1}}) {
    KINJO_ASSERT_RESULT(none,
                        KnnVectorDistanceOperator::Make(MemoryScan(SmallBatches()),
                                                        Query(query, kernels::Metric::kCosine)));
    KINJO_ASSERT_RESULT(unmatched, RunPlan(*none, &test.run));
    const auto& all = ColumnOf<arrow::FloatArray>(*unmatched, kDistanceColumn);
    EXPECT_TRUE(std::isnan(all.Value(0)) && std::isnan(all.Value(2)));
  }
}

TEST(KnnVectorDistanceOperator, StatisticsKeepTheRowsAndTheNullsOfTheVectors) {
  KINJO_ASSERT_RESULT(op,
                      KnnVectorDistanceOperator::Make(MemoryScan(SmallBatches()), Query({1, 0})));
  const Statistics statistics = op->statistics();
  EXPECT_EQ(statistics.num_rows, Estimate::Exact(5));
  EXPECT_EQ(statistics.null_counts,
            (std::vector<Estimate>{Estimate::Exact(1), Estimate::Exact(0), Estimate::Exact(1)}));
}

TEST(KnnVectorDistanceOperator, ExplainsItself) {
  KINJO_ASSERT_RESULT(op,
                      KnnVectorDistanceOperator::Make(MemoryScan(SmallBatches()), Query({1, 0})));
  const PlanNode node = op->Describe();
  EXPECT_EQ(RenderPlan(node, {}), "KNNVectorDistance: metric=l2\n");
  EXPECT_EQ(RenderPlan(node, {.details = true}), "KNNVectorDistance: metric=l2\n");
  EXPECT_EQ(RenderPlan(node, {.field_lines = true}), "KNNVectorDistance\nmetric=l2\n");
  EXPECT_FALSE(op->supports_limit_pushdown());
}

TEST(KnnVectorDistanceOperator, ErrorsAreNamed) {
  const auto input = MemoryScan(SmallBatches());
  VectorQuery missing = Query({1, 0});
  missing.column = "vec";
  auto made = KnnVectorDistanceOperator::Make(input, missing);
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kNotFound);
  EXPECT_EQ(base::MessageOf(made.status()),
            "column \"vec\" is not in the input of KNNVectorDistance; its columns are _distance, "
            "vector, id");
  missing.column = "id";
  made = KnnVectorDistanceOperator::Make(input, missing);
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::MessageOf(made.status()),
            "column \"id\" of the input of KNNVectorDistance is int64, not a vector: a list of "
            "numbers, fixed-size or not");
  made = KnnVectorDistanceOperator::Make(input, Query({1, 0, 0}));
  EXPECT_EQ(base::MessageOf(made.status()),
            "the query for column \"vector\" has 3 elements, but the column has 2");
  made = KnnVectorDistanceOperator::Make(input, Query({1, 0}, kernels::Metric::kHamming));
  EXPECT_EQ(base::CodeOf(made.status()), base::ErrorCode::kInvalid);

  KINJO_ASSERT_RESULT(op, KnnVectorDistanceOperator::Make(input, Query({1, 0})));
  for (const auto& inputs : {std::vector<OperatorPtr>{}, {input, input}}) {
    const auto changed = op->WithNewInputs(inputs);
    EXPECT_EQ(base::CodeOf(changed.status()), base::ErrorCode::kInvalid);
    EXPECT_EQ(base::MessageOf(changed.status()),
              base::Concat("KNNVectorDistanceExec node must have exactly one child; it was given ",
                           inputs.size()));
  }
  KINJO_ASSERT_RESULT(again, op->WithNewInputs({input}));
  EXPECT_TRUE(again->schema()->Equals(*op->schema()));
}

}  // namespace
}  // namespace kinjo::exec
