#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <new>
#include <system_error>

#include "base/cancel_scope.h"
#include "base/cgroup.h"

namespace kinjo::base {

namespace {
// The pool whose loop body the current thread is in, so that a nested loop can run in place.
thread_local const ThreadPool* t_pool = nullptr;
thread_local int t_worker = 0;
}  // namespace

int DefaultThreadCount() {
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  return ThreadsWithin(ReadCgroupLimits(), known ? CPU_COUNT(&set) : 1);
}

struct ThreadPool::Loop {
  int64_t items;
  const CancelToken& cancel;
  const Body& body;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  int64_t failed_item = std::numeric_limits<int64_t>::max();
  arrow::Status status;

  void Fail(int64_t item, arrow::Status error) {
    std::lock_guard<std::mutex> lock(mutex);
    failed.store(true, std::memory_order_relaxed);
    if (item < failed_item) {
      failed_item = item;
      status = std::move(error);
    }
  }
};

ThreadPool::ThreadPool(int threads) {
  workers_.reserve(static_cast<size_t>(std::max(threads - 1, 0)));
  // When the system gives no more threads, those there are, and at least the calling one, do the
  // work.
  for (int worker = 1; worker < threads && StartWorker(worker); ++worker) {
  }
}

bool ThreadPool::StartWorker(int worker) {
  try {
    workers_.emplace_back([this, worker] { WorkerMain(worker); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::RunItems(Loop* loop, int worker) {
  const CancelScope scope(loop->cancel);
  while (!loop->failed.load(std::memory_order_relaxed)) {
    const int64_t item = loop->next.fetch_add(1, std::memory_order_relaxed);
    if (item >= loop->items) return;
    arrow::Status status = loop->cancel.Check();
    if (status.ok()) {
      try {
        status = loop->body(item, worker);
      } catch (const std::bad_alloc&) {
        status = MakeError(ErrorCode::kCapacity, "the system is out of memory");
      } catch (const std::exception& error) {
        status = Internal("unexpected exception in a parallel loop: ", error.what());
      }
    }
    if (!status.ok()) loop->Fail(item, std::move(status));
  }
}

void ThreadPool::WorkerMain(int worker) {
  t_pool = this;
  t_worker = worker;
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    wake_.wait(lock, [&] { return stopping_ || (loop_ != nullptr && generation_ != seen); });
    if (stopping_) return;
    seen = generation_;
    Loop* loop = loop_;
    ++busy_workers_;
    lock.unlock();
    RunItems(loop, worker);
    lock.lock();
    if (--busy_workers_ == 0) done_.notify_all();
  }
}

arrow::Status ThreadPool::ParallelFor(int64_t items, const CancelToken& cancel, const Body& body) {
  Loop loop{.items = items, .cancel = cancel, .body = body};
  if (t_pool == this) {
    RunItems(&loop, t_worker);
    return loop.status;
  }
  std::lock_guard<std::mutex> turn(loop_mutex_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    loop_ = &loop;
    ++generation_;
  }
  wake_.notify_all();
  const ThreadPool* outer_pool = t_pool;
  const int outer_worker = t_worker;
  t_pool = this;
  t_worker = 0;
  RunItems(&loop, 0);
  t_pool = outer_pool;
  t_worker = outer_worker;
  std::unique_lock<std::mutex> lock(mutex_);
  loop_ = nullptr;
  done_.wait(lock, [&] { return busy_workers_ == 0; });
  return loop.status;
}

}  // namespace kinjo::base
