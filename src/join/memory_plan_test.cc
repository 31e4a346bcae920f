#include "join/memory_plan.h"

#include <gtest/gtest.h>

namespace kinjo::join {
namespace {

MemoryNeeds IndexNeeds() {
  MemoryNeeds needs;
  needs.limit_bytes = int64_t{1} << 30;
  needs.threads = 4;
  needs.dim = 128;
  needs.candidates = 50;
  needs.k = 10;
  needs.left_row_bytes = 520;
  needs.uses_index = true;
  needs.segments = 1;
  needs.ranked_partitions = 96;
  needs.partition_rows_max = 3000;
  needs.partition_bytes_max = 3000 * 24;
  needs.index_bytes = 40 << 20;
  needs.index_rows = 1'000'000;
  return needs;
}

TEST(MemoryPlan, SharesStayWithinTheLimit) {
  for (const int64_t mebibytes : {32, 64, 256, 4096}) {
    MemoryNeeds needs = IndexNeeds();
    needs.limit_bytes = mebibytes << 20;
    const auto plan = PlanMemory(needs);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_LE(plan->total_bytes(), needs.limit_bytes);
    EXPECT_GE(plan->block_rows, 64);
    EXPECT_GT(plan->output_bytes, 0);
    EXPECT_GT(plan->slack_bytes, 0);
    EXPECT_EQ(plan->keeps_index, mebibytes >= 256);
    EXPECT_EQ(plan->keeps_index, MayStayResident(plan->resident, needs.index_rows,
                                                 needs.limit_bytes, kResidentSafety));
    EXPECT_LE(plan->cache_bytes, needs.index_bytes);
    if (plan->keeps_index) {
      EXPECT_EQ(plan->cache_bytes, needs.index_bytes);
    }
  }
}

TEST(MemoryPlan, ALimitTooSmallNamesTheSmallestThatWouldDo) {
  MemoryNeeds needs = IndexNeeds();
  needs.limit_bytes = 1 << 20;
  const arrow::Status refused = PlanMemory(needs).status();
  EXPECT_EQ(base::CodeOf(refused), base::ErrorCode::kCapacity);
  const std::string message = base::MessageOf(refused);
  const std::string lead = "the smallest that would do is ";
  const size_t at = message.find(lead);
  ASSERT_NE(at, std::string::npos) << message;
  const size_t bytes_at = message.find("(", at) + 1;
  const int64_t smallest = std::stoll(message.substr(bytes_at));
  // What stands before the bytes is the same, rounded up to a tenth of its unit.
  const double shown = std::stod(message.substr(at + lead.size()));
  const std::string unit = message.substr(bytes_at - 5, 3);
  const double unit_bytes = unit == "KiB" ? 1024 : unit == "MiB" ? 1 << 20 : 1 << 30;
  EXPECT_GE(shown * unit_bytes, static_cast<double>(smallest));
  EXPECT_LT((shown - 0.1) * unit_bytes, static_cast<double>(smallest));
  needs.limit_bytes = smallest - 1;
  EXPECT_FALSE(PlanMemory(needs).ok());
  needs.limit_bytes = smallest;
  const auto plan = PlanMemory(needs);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_LE(plan->total_bytes(), smallest);
}

TEST(MemoryPlan, CodedQueriesAndRowsTakeMore) {
  MemoryNeeds needs = IndexNeeds();
  const MemoryPlan plain = PlanMemory(needs).ValueOrDie();
  needs.coded = true;
  const MemoryPlan coded = PlanMemory(needs).ValueOrDie();
  EXPECT_EQ(coded.query_bytes, plain.query_bytes + 8 * 128);
  EXPECT_EQ(coded.fixed_bytes, plain.fixed_bytes + 4 * 16 * 3000);
}

TEST(MemoryPlan, FewPartitionsAreLoadedOneAtATime) {
  MemoryNeeds needs = IndexNeeds();
  const int64_t each = PlanMemory(needs).ValueOrDie().fixed_bytes;
  needs.partitions_at_once = needs.threads;
  EXPECT_EQ(PlanMemory(needs).ValueOrDie().fixed_bytes, each);
  needs.partitions_at_once = 1;
  const int64_t one = PlanMemory(needs).ValueOrDie().fixed_bytes;
  EXPECT_EQ(each - one, 3 * (3000 * 24 + 3000 * (128 * 5 + 4 * 8)));
}

TEST(MemoryPlan, GraphsCount) {
  MemoryNeeds needs = IndexNeeds();
  needs.partitions_at_once = 1;
  needs.graph_bytes_max = 500'000;
  const int64_t with_graph = PlanMemory(needs).ValueOrDie().fixed_bytes;
  // At least the graph, and for each thread which nodes it has seen.
  EXPECT_GT(with_graph, 500'000 + 4 * 3000 * 4);
  needs.graph_bytes_max = 600'000;
  EXPECT_EQ(PlanMemory(needs).ValueOrDie().fixed_bytes, with_graph + 200'000);
}

TEST(MemoryPlan, AskedBlockRowsAreKept) {
  for (const int64_t rows : {1, 7, 4096}) {
    MemoryNeeds needs = IndexNeeds();
    needs.block_rows_asked = rows;
    const auto plan = PlanMemory(needs);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->block_rows, rows);
  }
}

}  // namespace
}  // namespace kinjo::join
