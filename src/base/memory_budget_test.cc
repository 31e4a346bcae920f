#include "base/memory_budget.h"

#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::base {
namespace {

TEST(MemoryBudget, TakesAndGivesBack) {
  MemoryBudget budget(100);
  {
    auto first = budget.Reserve(60, "a block");
    ASSERT_TRUE(first.ok()) << first.status().ToString();
    EXPECT_EQ(first->bytes(), 60);
    EXPECT_EQ(budget.used_bytes(), 60);
    auto second = budget.Reserve(40, "a heap");
    ASSERT_TRUE(second.ok()) << second.status().ToString();
    EXPECT_EQ(budget.used_bytes(), 100);
    second->Release();
    second->Release();
    EXPECT_EQ(budget.used_bytes(), 60);
  }
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_EQ(budget.peak_bytes(), 100);
}

TEST(MemoryBudget, RefusesWhatDoesNotFitAndSaysWhatForAndTheLimit) {
  MemoryBudget budget(1000);
  auto held = budget.Reserve(600, "a block");
  ASSERT_TRUE(held.ok());
  const auto refused = budget.Reserve(401, "kept partitions");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(CodeOf(refused.status()), ErrorCode::kCapacity);
  EXPECT_THAT(MessageOf(refused.status()), testing::HasSubstr("kept partitions"));
  EXPECT_THAT(MessageOf(refused.status()), testing::HasSubstr("1000"));
  EXPECT_EQ(budget.used_bytes(), 600);
  EXPECT_EQ(budget.peak_bytes(), 600);
}

TEST(MemoryBudget, AMovedReservationHasOneOwner) {
  MemoryBudget budget(100);
  auto made = budget.Reserve(70, "a block");
  ASSERT_TRUE(made.ok());
  Reservation first = std::move(*made);
  Reservation second = std::move(first);
  EXPECT_EQ(budget.used_bytes(), 70);
  second = Reservation();
  EXPECT_EQ(budget.used_bytes(), 0);
}

TEST(MemoryBudget, CountsFromManyThreads) {
  MemoryBudget budget(1 << 20);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        EXPECT_TRUE(budget.Reserve(100, "a piece").ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used_bytes(), 0);
  EXPECT_GE(budget.peak_bytes(), 100);
  EXPECT_LE(budget.peak_bytes(), 400);
}

TEST(MemoryBudget, TheDefaultLimitIsPositive) { EXPECT_GT(DefaultMemoryLimitBytes(), 0); }

}  // namespace
}  // namespace kinjo::base
