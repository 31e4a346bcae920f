#include "base/thread_pool.h"

#include <atomic>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kinjo::base {
namespace {

TEST(ThreadPool, RunsEachItemOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.size(), threads);
    for (const int64_t items : {0, 1, 3, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<size_t>(items));
      const arrow::Status status = pool.ParallelFor(items, {}, [&](int64_t item, int) {
        runs[item].fetch_add(1);
        return arrow::Status::OK();
      });
      EXPECT_TRUE(status.ok()) << status.ToString();
      for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
    }
  }
}

// A buffer a worker is no buffer for two threads at once.
TEST(ThreadPool, AWorkerNumberBelongsToOneItemAtATime) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared{false};
  const arrow::Status status = pool.ParallelFor(2000, {}, [&](int64_t, int worker) {
    if (worker < 0 || worker >= pool.size()) return Internal("worker ", worker);
    if (inside[worker].fetch_add(1) != 0) shared.store(true);
    std::this_thread::yield();
    inside[worker].fetch_sub(1);
    return arrow::Status::OK();
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_FALSE(shared.load());
}

TEST(ThreadPool, ReturnsTheErrorOfTheLowestFailedItem) {
  ThreadPool pool(3);
  for (int round = 0; round < 50; ++round) {
    const arrow::Status status = pool.ParallelFor(100, {}, [&](int64_t item, int) {
      return item >= 10 ? Io("item ", item) : arrow::Status::OK();
    });
    EXPECT_EQ(CodeOf(status), ErrorCode::kIo);
    EXPECT_EQ(MessageOf(status), "item 10");
  }
}

TEST(ThreadPool, StartsNothingAfterAnError) {
  ThreadPool pool(1);
  std::vector<int64_t> started;
  const arrow::Status status = pool.ParallelFor(10, {}, [&](int64_t item, int) {
    started.push_back(item);
    return item == 3 ? Invalid("three") : arrow::Status::OK();
  });
  EXPECT_EQ(CodeOf(status), ErrorCode::kInvalid);
  EXPECT_THAT(started, testing::ElementsAre(0, 1, 2, 3));
}

TEST(ThreadPool, ACancelledLoopStopsAndSaysSo) {
  ThreadPool pool(2);
  const CancelToken cancel;
  std::atomic<int64_t> runs{0};
  const arrow::Status status = pool.ParallelFor(1'000'000, cancel, [&](int64_t item, int) {
    runs.fetch_add(1);
    if (item == 5) cancel.Cancel();
    return arrow::Status::OK();
  });
  EXPECT_EQ(CodeOf(status), ErrorCode::kCancelled);
  EXPECT_LT(runs.load(), 1'000'000);
}

TEST(ThreadPool, LackOfMemoryInABodyIsAnError) {
  ThreadPool pool(2);
  const arrow::Status status =
      pool.ParallelFor(4, {}, [](int64_t, int) -> arrow::Status { throw std::bad_alloc(); });
  EXPECT_EQ(CodeOf(status), ErrorCode::kCapacity);
}

TEST(ThreadPool, AnExceptionInABodyIsAnError) {
  ThreadPool pool(3);
  const arrow::Status status =
      pool.ParallelFor(4, {}, [](int64_t, int) -> arrow::Status { throw std::length_error("x"); });
  EXPECT_EQ(CodeOf(status), ErrorCode::kInternal);
  EXPECT_NE(status.message().find("parallel loop: x"), std::string::npos) << status;
}

TEST(ThreadPool, ALoopInsideALoopRunsOnItsOwnWorker) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::atomic<bool> moved{false};
  const arrow::Status status = pool.ParallelFor(8, {}, [&](int64_t, int) {
    const auto outer = std::this_thread::get_id();
    return pool.ParallelFor(10, {}, [&](int64_t item, int) {
      if (std::this_thread::get_id() != outer) moved.store(true);
      sum.fetch_add(item);
      return arrow::Status::OK();
    });
  });
  EXPECT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(sum.load(), 8 * 45);
  EXPECT_FALSE(moved.load());
}

TEST(ThreadPool, LoopsFromSeveralThreadsRunOneAfterAnother) {
  ThreadPool pool(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        const arrow::Status status = pool.ParallelFor(20, {}, [&](int64_t item, int) {
          sum.fetch_add(item);
          return arrow::Status::OK();
        });
        EXPECT_TRUE(status.ok()) << status.ToString();
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum.load(), 4 * 50 * 190);
}

TEST(ThreadPool, TheDefaultIsAtLeastOne) { EXPECT_GE(DefaultThreadCount(), 1); }

}  // namespace
}  // namespace kinjo::base
