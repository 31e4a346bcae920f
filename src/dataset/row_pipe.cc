#include "dataset/row_pipe.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

#include "arrow/util/byte_size.h"

namespace kinjo::dataset {
namespace {

using Batch = std::shared_ptr<arrow::RecordBatch>;

/// The batches in between. Either end closes it, whatever becomes of its thread.
class Pipe {
 public:
  explicit Pipe(int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// Waits for room; false when nobody takes any more.
  bool Put(Batch batch) {
    const int64_t bytes = arrow::util::TotalBufferSize(*batch);
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return closed_ || waiting_.empty() || waiting_bytes_ + bytes <= most_bytes_; });
    if (closed_) return false;
    waiting_.emplace_back(std::move(batch), bytes);
    waiting_bytes_ += bytes;
    changed_.notify_all();
    return true;
  }

  /// The next batch; null when none comes any more.
  Batch Take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return nullptr;
    auto [batch, bytes] = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= bytes;
    changed_.notify_all();
    return batch;
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  const int64_t most_bytes_;
  std::mutex mutex_;  // guards the fields below
  std::condition_variable changed_;
  std::deque<std::pair<Batch, int64_t>> waiting_;
  int64_t waiting_bytes_ = 0;
  bool closed_ = false;
};

/// Closes the pipe when its end of it is left.
class PipeEnd {
 public:
  explicit PipeEnd(Pipe* pipe) : pipe_(pipe) {}
  PipeEnd(const PipeEnd&) = delete;
  PipeEnd& operator=(const PipeEnd&) = delete;
  ~PipeEnd() { pipe_->Close(); }

 private:
  Pipe* const pipe_;
};

arrow::Status InTurns(const ReadRows& read, const WriteRows& write,
                      const base::CancelToken& cancel) {
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const Batch batch, read());
    if (batch == nullptr) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(write(*batch));
  }
}

}  // namespace

arrow::Status PipeRows(const ReadRows& read, const WriteRows& write, int64_t most_bytes,
                       base::ThreadPool* pool, const base::CancelToken& cancel) {
  if (pool == nullptr || pool->size() == 1) return InTurns(read, write, cancel);
  Pipe pipe(most_bytes);
  const auto read_all = [&]() -> arrow::Status {
    const PipeEnd end(&pipe);
    while (true) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      ARROW_ASSIGN_OR_RAISE(Batch batch, read());
      if (batch == nullptr || !pipe.Put(std::move(batch))) return arrow::Status::OK();
    }
  };
  const auto write_all = [&]() -> arrow::Status {
    const PipeEnd end(&pipe);
    while (const Batch batch = pipe.Take()) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      ARROW_RETURN_NOT_OK(write(*batch));
    }
    return arrow::Status::OK();
  };
  return pool->ParallelFor(2, cancel,
                           [&](int64_t item, int) { return item == 0 ? read_all() : write_all(); });
}

}  // namespace kinjo::dataset
