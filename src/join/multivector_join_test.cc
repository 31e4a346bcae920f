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
  EXPECT_EQ(
      base::MessageOf(status),
      "left column \"v\": row 1 has 70000 vectors, more than a query block takes, 65536; split "
      "the row");
}

/// The smallest limit that a refusal names, in bytes; 0 where it names none.
int64_t SmallestNamed(const arrow::Status& status) {
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kCapacity) << status;
  const std::string message = base::MessageOf(status);
  const size_t lead = message.find("the smallest that would do is ");
  const size_t end = lead == std::string::npos ? lead : message.find(" bytes", lead);
  EXPECT_NE(end, std::string::npos) << message;
  if (end == std::string::npos) return 0;
  const size_t begin = message.find_last_not_of("0123456789", end - 1) + 1;
  return std::stoll(message.substr(begin, end - begin));
}

TEST(MultivectorJoin, ARowTooLongForTheLimitIsRefusedWithTheSmallestThatWouldDo) {
  const Lists left = {{FloatVectors(1, kDim, 6)}, {FloatVectors(20000, kDim, 7)}};
  const Lists right = RandomLists(5, 2, 8);
  KINJO_ASSERT_RESULT(want, Join(left, right, Options(3)));
  JoinOptions options = Options(3);
  options.memory_limit_bytes = int64_t{8} << 20;
  const int64_t smallest = SmallestNamed(Join(left, right, options).status());
  options.memory_limit_bytes = smallest - 1;
  EXPECT_EQ(base::CodeOf(Join(left, right, options).status()), base::ErrorCode::kCapacity);
  options.memory_limit_bytes = smallest;
  KINJO_ASSERT_RESULT(got, Join(left, right, options));
  EXPECT_TRUE(got.table->Equals(*want.table));
  EXPECT_LE(got.report.peak_memory_bytes, smallest);
}

/// Row i has sizes[i] vectors, all within 1e-4 of the direction i * 0.2.
Lists FanOf(const std::vector<int64_t>& sizes) {
  Lists lists;
  for (size_t i = 0; i < sizes.size(); ++i) {
    lists.push_back(FloatVectors(sizes[i], kDim, static_cast<uint32_t>(20 + i)));
    for (auto& vector : lists.back()) {
      for (double& value : vector) value = static_cast<float>(1e-5 * value);
      vector[0] += std::cos(0.2 * static_cast<double>(i));
      vector[1] += std::sin(0.2 * static_cast<double>(i));
      for (double& value : vector) value = static_cast<float>(value);
    }
  }
  return lists;
}

/// Joins the left lists with an index over the right ones, every partition of it probed.
arrow::Result<JoinOutcome> JoinByIndex(const Lists& left, const Lists& right, JoinOptions options) {
  const auto column = ListArray(right);
  const auto schema =
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("w", column->type())});
  auto dataset = std::make_shared<dataset::MemoryDataset>(
      arrow::RecordBatch::Make(schema, column->length(), {MakeIds(column->length()), column}),
      column->length());
  const std::vector<float> near = {1, 0, 0, 0, 0, 0}, far = {0, 1, 0, 0, 0, 0};
  dataset->AddIndex("lists", "w", "cosine", {{0}}, {near, far});
  options.minimum_nprobes = 2;
  return RunJoin(Table("q", "v", ListArray(left)), MakeDatasetSide(dataset), options);
}

// The vectors nearest to the left ones all lie in one row: they look for four times as many, again
// and again, until they meet k rows.
TEST(MultivectorJoin, ALongListThatLooksFurtherAndFurtherStaysWithinItsMemory) {
  const Lists right = FanOf({700, 600, 500, 400, 300}), left = {FanOf({200})[0], FanOf({3})[0]};
  KINJO_ASSERT_RESULT(want, JoinByIndex(left, right, Options(3)));
  EXPECT_EQ(want.report.path, "index");
  EXPECT_EQ(want.report.result_rows, 6);
  const auto& ids = ColumnOf<arrow::Int64Array>(*want.table, "id");
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(ids.Value(i), i % 3);
  JoinOptions options = Options(3);
  options.memory_limit_bytes = 1;
  // The plan's smallest doesn't take the long list; what is named then does, 200 vectors at a time
  // first and in the end four.
  options.memory_limit_bytes = SmallestNamed(JoinByIndex(left, right, options).status());
  const auto refused = JoinByIndex(left, right, options).status();
  const std::string named = base::MessageOf(refused);
  EXPECT_NE(named.find("row 0 has 200 vectors, more than a query block takes, "), std::string::npos)
      << named;
  const int64_t limit = SmallestNamed(refused);
  options.memory_limit_bytes = limit;
  for (const int64_t threads : {1, 3}) {
    options.threads = threads;
    if (threads > 1) options.memory_limit_bytes = 4 * limit;
    KINJO_ASSERT_RESULT(got, JoinByIndex(left, right, options));
    EXPECT_TRUE(got.table->Equals(*want.table));
  }
}

TEST(MultivectorJoin, ASearchThatOutgrowsItsMemoryIsRefusedWithTheSmallestLimit) {
  // The 2,900 nearest vectors lie in two rows, and k is 3: a vector has to look at them all.
  const Lists right = FanOf({1500, 1400, 100}), left = {FanOf({4})[0]};
  KINJO_ASSERT_RESULT(want, JoinByIndex(left, right, Options(3)));
  EXPECT_EQ(want.report.result_rows, 3);
  JoinOptions options = Options(3);
  options.memory_limit_bytes = 1;
  options.memory_limit_bytes = SmallestNamed(JoinByIndex(left, right, options).status());
  const auto refused = JoinByIndex(left, right, options).status();
  const std::string message = base::MessageOf(refused);
  ASSERT_NE(message.find("a vector looks at 3000 others to meet k = 3 rows, in the room of 100 "
                         "vectors, more than a query block takes, 64"),
            std::string::npos)
      << message;
  const int64_t smallest = SmallestNamed(refused);
  options.memory_limit_bytes = smallest - 1;
  EXPECT_EQ(base::CodeOf(JoinByIndex(left, right, options).status()), base::ErrorCode::kCapacity);
  options.memory_limit_bytes = smallest;
  KINJO_ASSERT_RESULT(got, JoinByIndex(left, right, options));
  EXPECT_TRUE(got.table->Equals(*want.table));
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
