// Joins of multivector columns in memory: blocks, threads, sides of other kinds, limits. Indexes
// are tested against pylance and brute force in tests/oracle/test_multivector.py.
#include <gtest/gtest.h>

#include "exec/plan_node.h"
#include "join/brute_force.h"
#include "join/explain.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

constexpr int32_t kDim = 6;
using Lists = std::vector<Vectors>;

/// A null list is empty, as is its array's row; an empty vector is null.
std::shared_ptr<arrow::Array> ListArray(const Lists& lists) {
  Vectors flat;
  arrow::Int32Builder offsets;
  EXPECT_TRUE(offsets.Append(0).ok());
  for (const Vectors& list : lists) {
    flat.insert(flat.end(), list.begin(), list.end());
    EXPECT_TRUE(offsets.Append(static_cast<int32_t>(flat.size())).ok());
  }
  return arrow::ListArray::FromArrays(*offsets.Finish().ValueOrDie(),
                                      *MakeVectorArray(flat, arrow::float32(), kDim))
      .ValueOrDie();
}

std::shared_ptr<MemoryTable> Table(const std::string& id, const std::string& vector,
                                   const std::shared_ptr<arrow::Array>& column) {
  const auto schema =
      arrow::schema({arrow::field(id, arrow::int64()), arrow::field(vector, column->type())});
  return std::make_shared<MemoryTable>(
      arrow::RecordBatch::Make(schema, column->length(), {MakeIds(column->length()), column}), id,
      13);
}

Lists RandomLists(int64_t rows, uint32_t most, uint32_t seed) {
  std::mt19937 random(seed);
  Lists lists(static_cast<size_t>(rows));
  for (Vectors& list : lists) list = FloatVectors(1 + random() % most, kDim, random());
  return lists;
}

std::vector<std::vector<kernels::Neighbor>> BruteForceLists(const Lists& left, const Lists& right,
                                                            size_t k) {
  std::vector<std::vector<kernels::Neighbor>> answer;
  for (const Vectors& list : left) {
    std::vector<kernels::Neighbor> rows;
    for (size_t i = 0; i < right.size(); ++i) {
      double sum = 0;
      for (const auto& query : list) {
        double nearest = std::numeric_limits<double>::infinity();
        for (const auto& row : right[i]) {
          nearest = std::min(nearest, PlainDistance(kernels::Metric::kCosine, query, row));
        }
        sum += nearest;
      }
      if (!list.empty() && std::isfinite(sum)) rows.push_back({static_cast<float>(sum), i});
    }
    std::sort(rows.begin(), rows.end());
    rows.resize(std::min(rows.size(), k));
    answer.push_back(std::move(rows));
  }
  return answer;
}

JoinOptions Options(int64_t k) {
  JoinOptions options;
  options.k = k;
  options.with_query_index = true;
  options.left_select = std::vector<std::string>{};
  options.threads = 1;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

arrow::Result<JoinOutcome> Join(const Lists& left, const Lists& right, const JoinOptions& options) {
  return RunJoin(Table("q", "v", ListArray(left)),
                 MakeTableSide(Table("id", "w", ListArray(right))), options);
}

TEST(MultivectorJoin, BlocksAndThreadsChangeNothing) {
  Lists left = RandomLists(50, 5, 1), right = RandomLists(300, 4, 2);
  left[7] = left[49] = right[0] = right[299] = {};
  KINJO_ASSERT_RESULT(first, Join(left, right, Options(5)));
  EXPECT_EQ(first.report.skipped_null_rows, 2);
  EXPECT_EQ(first.report.path, "exact");
  EXPECT_EQ(first.report.metric, "cosine");
  EXPECT_TRUE(first.report.exact_distances);
  const auto got = NeighboursOf(*first.table, 50, "id");
  const auto want = BruteForceLists(left, right, 5);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].size(), want[i].size());
    for (size_t j = 0; j < want[i].size(); ++j) {
      EXPECT_NEAR(got[i][j].distance, want[i][j].distance, 5e-6);
    }
  }
  for (const int64_t block_rows : {1, 2, 7, 1000}) {
    JoinOptions options = Options(5);
    options.block_rows = block_rows;
    options.threads = 3;
    KINJO_ASSERT_RESULT(again, Join(left, right, options));
    EXPECT_TRUE(again.table->Equals(*first.table)) << block_rows;
  }
}

TEST(MultivectorJoin, ALeftVectorIsAListOfOne) {
  const Vectors vectors = FloatVectors(20, kDim, 3);
  const Lists right = RandomLists(100, 4, 4);
  Lists left;
  for (const auto& vector : vectors) left.push_back({vector});
  KINJO_ASSERT_RESULT(lists, Join(left, right, Options(4)));
  const auto column = MakeVectorArray(vectors, arrow::float32(), kDim);
  KINJO_ASSERT_RESULT(
      plain, RunJoin(Table("q", "v", column), MakeTableSide(Table("id", "w", ListArray(right))),
                     Options(4)));
  EXPECT_TRUE(plain.table->Equals(*lists.table));
}

TEST(MultivectorJoin, LeftRowsWithoutMatchComeOutOnceWithNulls) {
  const Lists right = RandomLists(10, 2, 5);
  JoinOptions options = Options(3);
  options.how = How::kLeft;
  KINJO_ASSERT_RESULT(got, Join({{}, right[2], {std::vector<double>(kDim, 0.0)}}, right, options));
  EXPECT_EQ(got.table->num_rows(), 5);
  EXPECT_EQ(got.table->GetColumnByName("_distance")->null_count(), 2);
  EXPECT_EQ(got.report.skipped_null_rows, 1);
  EXPECT_EQ(got.report.skipped_non_finite_rows, 1);
}

TEST(MultivectorJoin, ARowThatNoBlockTakesIsNamedWithTheLimit) {
  const Lists left = {{FloatVectors(1, kDim, 6)}, {FloatVectors(70000, kDim, 7)}};
  const auto status = Join(left, RandomLists(5, 2, 8), Options(3)).status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCapacity);
  EXPECT_EQ(base::MessageOf(status),
            "left column \"v\": row 1 has more vectors than a query block takes, 65536; raise "
            "memory_limit = 1073741824 bytes, or split the row");
}

TEST(MultivectorJoin, KindsThatDontMeetAreRefusedBeforeAnyRow) {
  const Lists lists = RandomLists(5, 2, 9);
  JoinOptions options = Options(3);
  options.metric = kernels::Metric::kDot;
  const auto metric = Join(lists, lists, options).status();
  EXPECT_EQ(base::CodeOf(metric), base::ErrorCode::kInvalid);
  EXPECT_EQ(
      base::MessageOf(metric),
      "metric = dot can't compare right column \"w\", which holds lists of vectors: those are "
      "compared by cosine only");
  const auto column = MakeVectorArray(FloatVectors(5, kDim, 10), arrow::float32(), kDim);
  const auto kinds = RunJoin(Table("q", "v", ListArray(lists)),
                             MakeTableSide(Table("id", "w", column)), Options(3))
                         .status();
  EXPECT_EQ(base::CodeOf(kinds), base::ErrorCode::kInvalid);
  EXPECT_EQ(
      base::MessageOf(kinds).find("left column \"v\" holds lists of vectors, but right column "
                                  "\"w\" holds vectors"),
      0u);
}

}  // namespace
}  // namespace kinjo::join
