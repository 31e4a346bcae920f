#include "exec/operators/multivector_scoring_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "exec/operators/memory_scan_operator.h"
#include "exec/operators/operator_fixture.h"

namespace kinjo::exec {
namespace {

OperatorPtr Hits(const std::vector<float>& distances, const std::vector<uint64_t>& row_ids) {
  const auto batch = arrow::RecordBatch::Make(
      NeighborSchema(), static_cast<int64_t>(row_ids.size()),
      {MakeArray<arrow::FloatBuilder>(distances), MakeArray<arrow::UInt64Builder>(row_ids)});
  return MemoryScanOperator::Make(NeighborSchema(), {batch}).ValueOrDie();
}

std::map<uint64_t, float> Score(const std::vector<OperatorPtr>& inputs) {
  VectorQuery query;
  const auto op = MultivectorScoringOperator::Make(inputs, query);
  TestRun test;
  const auto rows = RunPlan(**op, &test.run).ValueOrDie();
  std::map<uint64_t, float> distances;
  for (int64_t i = 0; i < rows->num_rows(); ++i) {
    distances[ColumnOf<arrow::UInt64Array>(*rows, kRowIdColumn).Value(i)] =
        ColumnOf<arrow::FloatArray>(*rows, kDistanceColumn).Value(i);
  }
  return distances;
}

TEST(MultivectorScoringOperator, TheOrderOfInputsChangesNothing) {
  std::vector<int> order = {0, 1, 2};
  std::map<uint64_t, float> first;
  do {
    std::vector<OperatorPtr> inputs;
    for (const int i : order) {
      const auto base = static_cast<float>(i);
      const auto id = static_cast<uint64_t>(i);
      inputs.push_back(Hits({base + 1, base + 2}, {id + 1, id + 2}));
    }
    const auto distances = Score(inputs);
    EXPECT_EQ(distances.size(), 4);
    if (first.empty()) first = distances;
    EXPECT_EQ(distances, first);
  } while (std::next_permutation(order.begin(), order.end()));
  // Row 1: 1 of the first input; the others' worst are 3 and 4.
  EXPECT_EQ(first, (std::map<uint64_t, float>{{1, 8}, {2, 8}, {3, 8}, {4, 9}}));
}

TEST(MultivectorScoringOperator, SumsThatRoundAreTheSameInEachOrder) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<float> uniform(0, 2);
  std::vector<OperatorPtr> inputs;
  for (int i = 0; i < 9; ++i) inputs.push_back(Hits({uniform(random)}, {7}));
  const auto first = Score(inputs);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(inputs.begin(), inputs.end(), random);
    EXPECT_EQ(Score(inputs), first);
  }
}

TEST(MultivectorScoringOperator, ARowCountsWithItsBestHit) {
  EXPECT_EQ(Score({Hits({0.25f, 0.5f, 0.75f}, {1, 2, 1})}),
            (std::map<uint64_t, float>{{1, 0.25f}, {2, 0.5f}}));
}

TEST(MultivectorScoringOperator, AMissingRowGetsTheLowestSimilarityOfAllHits) {
  // The lowest of the second input is a second hit of row 1, worse than its best.
  EXPECT_EQ(Score({Hits({0.25f}, {2}), Hits({0.5f, 0.75f}, {1, 1})}),
            (std::map<uint64_t, float>{{1, 0.75f}, {2, 1.0f}}));
}

TEST(MultivectorScoringOperator, AnEmptyInputCountsAsSimilarityZero) {
  EXPECT_EQ(Score({Hits({0.25f}, {2}), Hits({}, {})}), (std::map<uint64_t, float>{{2, 1.25f}}));
  EXPECT_TRUE(Score({Hits({}, {}), Hits({}, {})}).empty());
}

TEST(MultivectorScoringOperator, ExplainsItself) {
  VectorQuery query;
  query.k = 7;
  query.refine_factor = 3;
  KINJO_ASSERT_RESULT(op, MultivectorScoringOperator::Make({Hits({}, {})}, query));
  EXPECT_EQ(RenderPlan(op->Describe(), {}), "MultivectorScoring: k=7\n");
  EXPECT_EQ(RenderPlan(op->Describe(), {.field_lines = true}), "MultivectorScoring\nk=7\n");
  EXPECT_EQ(op->statistics().num_rows, Estimate::Inexact(21));
  EXPECT_FALSE(op->supports_limit_pushdown());
  EXPECT_TRUE(op->schema()->Equals(*NeighborSchema()));
}

TEST(MultivectorScoringOperator, ErrorsAreNamed) {
  const auto none = MultivectorScoringOperator::Make({}, {});
  EXPECT_EQ(base::CodeOf(none.status()), base::ErrorCode::kInvalid);
  EXPECT_EQ(base::MessageOf(none.status()),
            "MultivectorScoringExec node must have at least one child, one for each query vector");
  const auto batch =
      MakeBatch({{kRowIdColumn, MakeArray<arrow::UInt64Builder>(std::vector<uint64_t>{1})}});
  const auto odd = MemoryScanOperator::Make(batch->schema(), {batch}).ValueOrDie();
  const auto lacking = MultivectorScoringOperator::Make({odd}, {});
  EXPECT_EQ(base::MessageOf(lacking.status()),
            "MultivectorScoringExec node: the input has no column \"_distance\" of type float");
}

}  // namespace
}  // namespace kinjo::exec
