// Every way of a join gives the same table, and what the planner says of them.
#include "join/way_choice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "join/brute_force.h"
#include "join/explain.h"
#include "join/memory_sides.h"

namespace kinjo::join {
namespace {

using testing::HasSubstr;

constexpr int64_t kDim = 5;
constexpr int64_t kRows = 20'000;

JoinOptions Options() {
  JoinOptions options;
  options.k = 7;
  options.with_query_index = true;
  options.with_row_id = true;
  options.threads = 3;
  options.memory_limit_bytes = int64_t{1} << 30;
  return options;
}

std::shared_ptr<MemoryTable> Left(int64_t rows) {
  return std::make_shared<MemoryTable>(
      MakeVectorBatch("q", "v", FloatVectors(rows, kDim, 4), arrow::float32(), kDim), "left");
}

std::shared_ptr<MemoryDataset> MakeRight(bool with_index) {
  Vectors vectors = IntegerVectors(kRows, kDim, 8);
  vectors[400].clear();  // null
  auto dataset = std::make_shared<MemoryDataset>(std::move(vectors), 7'000, kDim);
  for (int64_t row = 0; row < kRows; row += 7) dataset->Delete(row);
  if (with_index) {
    dataset->AddIndex("idx", "l2", {{0, 1, 2}}, IntegerVectors(40, kDim, 99, -4, 4));
  }
  return dataset;
}

void ExpectEveryWayGives(const JoinOptions& options, int64_t left_rows, bool with_index,
                         const std::vector<std::string>& ways) {
  const auto right = MakeRight(with_index);
  KINJO_ASSERT_RESULT(want, RunJoin(Left(left_rows), MakeDatasetSide(right), options));
  EXPECT_GT(want.table->num_rows(), 0);
  for (const std::string& way : ways) {
    for (const int64_t block_rows : {3, 1000}) {
      JoinOptions forced = options;
      KINJO_ASSERT_RESULT(asked, ForcedWaysOf(way));
      forced.forced_ways = asked;
      forced.block_rows = block_rows;
      KINJO_ASSERT_RESULT(got, RunJoin(Left(left_rows), MakeDatasetSide(right), forced));
      EXPECT_TRUE(got.table->Equals(*want.table)) << way << ", block_rows " << block_rows;
      EXPECT_EQ(got.report.short_rows, want.report.short_rows) << way;
      EXPECT_EQ(got.report.capped_rows, want.report.capped_rows) << way;
    }
  }
}

const std::vector<std::string> kExact = {"exact=shared", "exact=own", "exact=pairs", "exact=kept"};

TEST(WayChoice, ExactWaysGiveOneAnswer) {
  for (const auto metric :
       {kernels::Metric::kL2, kernels::Metric::kCosine, kernels::Metric::kDot}) {
    JoinOptions options = Options();
    options.metric = metric;
    ExpectEveryWayGives(options, 20, false, kExact);
  }
}

TEST(WayChoice, ExactWaysGiveOneAnswerOfFilteredRowsAndRanges) {
  JoinOptions options = Options();
  options.where = "id % 3 = 1";
  ExpectEveryWayGives(options, 20, false, kExact);
  options.distance_range = {2.0f, 9.5f};
  options.how = How::kLeft;
  ExpectEveryWayGives(options, 20, false, kExact);
}

TEST(WayChoice, ExactWaysGiveOneAnswerByKeys) {
  JoinOptions options = Options();
  options.by = {"q:id"};
  options.how = How::kLeft;
  ExpectEveryWayGives(options, 20, false, {"exact=shared", "exact=own"});
  options.by.clear();
  options.exclude_self = "q:id";
  ExpectEveryWayGives(options, 20, false, kExact);
}

TEST(WayChoice, IndexWaysGiveOneAnswer) {
  JoinOptions options = Options();
  ExpectEveryWayGives(options, 50, true, {"index=resident", "index=streamed", "index=one-by-one"});
  options.nprobes = 4;
  options.where = "id BETWEEN 1000 AND 15000 AND id <> 4000";
  ExpectEveryWayGives(options, 50, true,
                      {"index=resident,filter=first", "index=resident,filter=beside",
                       "index=streamed,filter=beside", "index=one-by-one,filter=beside"});
}

// That nothing passes at all is known only to who looked at every row.
TEST(WayChoice, NothingPassesOnAnyWay) {
  JoinOptions options = Options();
  options.nprobes = 4;
  options.where = "id < 0";
  options.how = How::kLeft;
  for (const FilterWay way : {FilterWay::kFirst, FilterWay::kBeside}) {
    options.forced_ways.filter = way;
    KINJO_ASSERT_RESULT(got, RunJoin(Left(5), MakeDatasetSide(MakeRight(true)), options));
    EXPECT_EQ(got.table->num_rows(), 5);
    EXPECT_EQ(got.report.short_rows, 5);
    EXPECT_EQ(got.report.capped_rows, way == FilterWay::kFirst ? 0 : 5);
  }
}

TEST(WayChoice, AFilterBesideReadsTheRowsOfItsPartitions) {
  JoinOptions options = Options();
  options.nprobes = 1;
  options.where = "id >= 0";
  options.forced_ways.filter = FilterWay::kBeside;
  KINJO_ASSERT_RESULT(got, RunJoin(Left(1), MakeDatasetSide(MakeRight(true)), options));
  EXPECT_GT(got.report.filter_rows_evaluated, 0);
  EXPECT_LT(got.report.filter_rows_evaluated, kRows / 2);
  EXPECT_EQ(got.report.filter_rows, got.report.filter_rows_evaluated);
  EXPECT_THAT(got.report.way, HasSubstr("filter beside"));
}

// Without a fixed number of probes the rows that pass decide how far a search goes, and a predicate
// that fails on a row must do so whichever partitions are met.
TEST(WayChoice, NoFilterBesideWhereTheAnswerMightChange) {
  JoinOptions options = Options();
  options.forced_ways.filter = FilterWay::kBeside;
  options.where = "id >= 0";
  const auto adaptive = MakePlan(Left(1), MakeDatasetSide(MakeRight(true)), options);
  EXPECT_THAT(adaptive.status().ToString(), HasSubstr("KINJO_WAYS"));
  options.nprobes = 2;
  EXPECT_TRUE(MakePlan(Left(1), MakeDatasetSide(MakeRight(true)), options).ok());
  options.where = "10 / id > 0";
  EXPECT_FALSE(MakePlan(Left(1), MakeDatasetSide(MakeRight(true)), options).ok());
}

TEST(WayChoice, ExplainTellsTheWaysNotTaken) {
  KINJO_ASSERT_RESULT(exact, MakePlan(Left(1000), MakeDatasetSide(MakeRight(false)), Options()));
  EXPECT_EQ(exact->considered.size(), 4u);
  const auto text = exec::RenderPlan(DescribePlan(*exact, false, nullptr), {.details = true});
  EXPECT_THAT(text, HasSubstr("way: "));
  EXPECT_THAT(text, HasSubstr("way not taken: pair by pair: about "));
  KINJO_ASSERT_RESULT(index, MakePlan(Left(1000), MakeDatasetSide(MakeRight(true)), Options()));
  ASSERT_EQ(index->considered.size(), 3u);
  EXPECT_EQ(index->considered[0].name, "partition-major, resident");
  for (const ConsideredWay& way : index->considered) EXPECT_GT(way.estimate.seconds, 0) << way.name;
}

TEST(WayChoice, AWayThatDoesNotFitIsNotTaken) {
  JoinOptions options = Options();
  options.memory_limit_bytes = int64_t{24} << 20;
  options.threads = 1;
  auto dataset = std::make_shared<MemoryDataset>(IntegerVectors(300'000, 32, 8), 300'000, 32);
  const auto left = std::make_shared<MemoryTable>(
      MakeVectorBatch("q", "v", FloatVectors(10, 32, 4), arrow::float32(), 32), "left");
  KINJO_ASSERT_RESULT(plan, MakePlan(left, MakeDatasetSide(dataset), options));
  for (const ConsideredWay& way : plan->considered) {
    EXPECT_EQ(way.fits, way.ways.exact != ExactWay::kKeptBlocks) << way.name;
  }
  options.forced_ways.exact = ExactWay::kKeptBlocks;
  const auto forced = MakePlan(left, MakeDatasetSide(dataset), options);
  EXPECT_EQ(base::CodeOf(forced.status()), base::ErrorCode::kCapacity);
}

// Each thread has buffers of its own: a limit with no room for those of all is met with fewer.
TEST(WayChoice, ALimitTooSmallForAllThreadsIsMetWithFewer) {
  JoinOptions options = Options();
  options.threads = 1;
  for (const bool with_index : {false, true}) {
    const auto right = MakeRight(with_index);
    KINJO_ASSERT_RESULT(want, RunJoin(Left(50), MakeDatasetSide(right), options));
    JoinOptions tight = options;
    tight.threads = 64;
    tight.memory_limit_bytes = int64_t{16} << 20;
    KINJO_ASSERT_RESULT(plan, MakePlan(Left(50), MakeDatasetSide(right), tight));
    EXPECT_GE(plan->threads, 1);
    EXPECT_LT(plan->threads, 64);
    EXPECT_LE(plan->memory.total_bytes(), *tight.memory_limit_bytes);
    EXPECT_THAT(exec::RenderPlan(DescribePlan(*plan, false, nullptr), {.details = true}),
                HasSubstr(" of 64 (the limit has no room for the buffers of more)"));
    KINJO_ASSERT_RESULT(got, RunJoin(Left(50), MakeDatasetSide(right), tight));
    EXPECT_TRUE(got.table->Equals(*want.table)) << "index " << with_index;
    // One thread more doesn't fit: no more were given up than had to be.
    JoinPlan wider = *plan;
    ++wider.threads;
    EXPECT_EQ(base::CodeOf(ChooseWays(&wider)), base::ErrorCode::kCapacity);
  }
}

TEST(WayChoice, ReadsWhatIsForced) {
  KINJO_ASSERT_RESULT(forced, ForcedWaysOf("exact=kept,index=one-by-one,filter=first"));
  EXPECT_EQ(forced.exact, ExactWay::kKeptBlocks);
  EXPECT_EQ(forced.index, IndexWay::kOneByOne);
  EXPECT_EQ(forced.filter, FilterWay::kFirst);
  KINJO_ASSERT_RESULT(none, ForcedWaysOf(""));
  EXPECT_FALSE(none.exact.has_value());
  for (const char* wrong : {"exact", "exact=", "exact=fast", "way=own", "index=kept"}) {
    EXPECT_THAT(ForcedWaysOf(wrong).status().ToString(), HasSubstr("KINJO_WAYS")) << wrong;
  }
}

}  // namespace
}  // namespace kinjo::join
