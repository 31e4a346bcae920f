// The only place that starts threads for computing. A pool is made by the executor and handed down;
// nobody below it makes another one, and nobody waits on the pool from inside the pool.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cancel_token.h"

namespace kinjo::base {

/// Threads this process may use: the CPU affinity mask and the cgroup's quota, at least 1.
int DefaultThreadCount();

/// A fixed set of worker threads that run one parallel loop at a time.
///
/// Thread-safe: loops started from several threads run one after another. A loop started from
/// inside a loop body runs on the calling worker alone (never a wait on the pool from inside the
/// pool).
class ThreadPool {
 public:
  /// `threads` counts the calling thread: ThreadPool(1) starts none. Where the system refuses to
  /// start so many, the pool is smaller.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// One item of a loop. `worker` is in [0, size()) and is this item's alone while the body runs.
  using Body = std::function<arrow::Status(int64_t item, int worker)>;

  /// Runs body(item, worker) for every item in [0, items), handing items out in rising order.
  /// After the first error, or once `cancel` is raised, no further item is started; the error of
  /// the lowest failed item is returned (`cancelled` when the token stopped it). A body's
  /// std::bad_alloc becomes a `capacity` error, any other exception `internal`.
  arrow::Status ParallelFor(int64_t items, const CancelToken& cancel, const Body& body);

 private:
  struct Loop;
  /// False when the system refuses another thread.
  bool StartWorker(int worker);
  void WorkerMain(int worker);
  static void RunItems(Loop* loop, int worker);

  std::vector<std::thread> workers_;
  std::mutex loop_mutex_;  // held by the thread whose loop is running
  std::mutex mutex_;       // guards the fields below
  std::condition_variable wake_;
  std::condition_variable done_;
  Loop* loop_ = nullptr;
  uint64_t generation_ = 0;
  int busy_workers_ = 0;
  bool stopping_ = false;
};

}  // namespace kinjo::base
