// Partitions with more elements than are decoded at a time: an index whose probes meet every row
// gives what the exact path gives, and counts each row and probe once.
#include <string>

#include "gtest/gtest.h"
#include "join/brute_force.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

// So wide that slices are short.
constexpr int32_t kDim = 4096;
constexpr int64_t kLeftRows = 9;

std::shared_ptr<arrow::Array> Numbers(int64_t rows, int64_t modulus) {
  arrow::Int64Builder builder;
  for (int64_t row = 0; row < rows; ++row) builder.Append(row % modulus).ok();
  return builder.Finish().ValueOrDie();
}

// Whole numbers, few of them: many rows are equally far.
std::shared_ptr<arrow::RecordBatch> Table(const std::string& id, int64_t rows, uint64_t seed) {
  std::vector<float> values(static_cast<size_t>(rows * kDim));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t j = 0; j < 24; ++j) {
      seed = seed * 6364136223846793005U + 1442695040888963407U;
      values[row * kDim + j * 170] = static_cast<float>(seed >> 61);
    }
  }
  const auto elements = std::make_shared<arrow::FloatArray>(
      rows * kDim, arrow::Buffer::FromVector(std::move(values)));
  const auto vectors = arrow::FixedSizeListArray::FromArrays(elements, kDim).ValueOrDie();
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field(id, arrow::int64()), arrow::field("tag", arrow::int64()),
                     arrow::field("vector", vectors->type())}),
      rows, {Numbers(rows, rows), Numbers(rows, 3), vectors});
}

class SlicedPartition : public testing::Test {
 protected:
  void SetUp() override {
    rows_ = 2 * exec::AnnIvfBatch::SliceRows(kDim) + 77;
    right_ = std::make_shared<dataset::MemoryDataset>(Table("id", rows_, 5), rows_);
    for (int64_t row = 3; row < rows_; row += 11) right_->Delete(row);
    right_->AddIndex("idx", "vector", "l2", {{0}}, {index::FloatVectors::value_type(kDim, 0.5F)});
    left_ = std::make_shared<MemoryTable>(Table("q", kLeftRows, 99), "left");
  }

  static JoinOptions Options() {
    JoinOptions options;
    options.k = 20;
    options.left_on = options.right_on = "vector";
    options.with_query_index = true;
    options.with_row_id = true;
    options.right_select = std::vector<std::string>{"id"};
    return options;
  }

  // Equal to the exact path, whether threads share the partition or one has it alone.
  JoinReport ExpectSameAsExact(JoinOptions options) {
    options.index = IndexUse::kNever;
    const auto exact = RunJoin(left_, MakeDatasetSide(right_), options);
    EXPECT_TRUE(exact.ok()) << exact.status();
    EXPECT_GT(exact->table->num_rows(), 0);
    JoinReport report;
    options.index = IndexUse::kRequire;
    for (const int64_t threads : {1, 3}) {
      options.threads = threads;
      const auto indexed = RunJoin(left_, MakeDatasetSide(right_), options);
      EXPECT_TRUE(indexed.ok()) << indexed.status();
      EXPECT_TRUE(indexed->table->Equals(*exact->table)) << threads << " threads";
      EXPECT_EQ(indexed->report.short_rows, exact->report.short_rows);
      report = indexed->report;
      EXPECT_EQ(report.partitions_read, 1);
      EXPECT_EQ(report.partitions_probed, kLeftRows);
    }
    return report;
  }

  int64_t rows_ = 0;
  std::shared_ptr<dataset::MemoryDataset> right_;
  std::shared_ptr<MemoryTable> left_;
};

TEST_F(SlicedPartition, GivesTheRowsOfAllSlices) { ExpectSameAsExact(Options()); }

TEST_F(SlicedPartition, KnowsWhatFiltersRangesAndKeysLeaveOut) {
  JoinOptions options = Options();
  options.where = "tag = 1 and id > 100";
  ExpectSameAsExact(options);
  options.where = "id < 700";  // one slice has them all
  ExpectSameAsExact(options);
  options = Options();
  options.exclude_self = "q:id";
  ExpectSameAsExact(options);
  options = Options();
  options.how = How::kLeft;
  options.distance_range = std::pair(150.0F, 320.0F);
  ExpectSameAsExact(options);
}

TEST_F(SlicedPartition, CutsTheRowsOfAGroupToo) {
  JoinOptions options = Options();
  options.by = {"tag"};
  ExpectSameAsExact(options);
}

// What is planned for decoded rows doesn't grow with the partition.
TEST_F(SlicedPartition, TakesTheMemoryOfASlice) {
  MemoryNeeds needs;
  needs.limit_bytes = int64_t{128} << 20;
  needs.threads = 1;
  needs.dim = 384;
  needs.k = needs.candidates = 10;
  needs.uses_index = true;
  needs.segments = 1;
  needs.ranked_partitions = 10;
  needs.partition_rows_max = 400'000;
  needs.partition_bytes_max = needs.partition_rows_max * 56;
  const auto plan = PlanMemory(needs);
  EXPECT_TRUE(plan.ok()) << plan.status();
}

}  // namespace
}  // namespace kinjo::join
