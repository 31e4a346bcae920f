// Progress of work that goes through rows one batch after another on one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/progress.h"

namespace kinjo::dataset {

/// Tells a callback of the rows that are done: at the start, then at most five times a second.
class RowProgress {
 public:
  RowProgress(base::ProgressCallback callback, int64_t total_rows)
      : callback_(std::move(callback)), total_rows_(total_rows) {
    Tell();
  }

  void Add(int64_t rows) {
    done_rows_ += rows;
    if (callback_ && Clock::now() - told_ >= kPause) Tell();
  }

  /// Tells that everything is done.
  void Finish() {
    total_rows_ = done_rows_;
    Tell();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{200};

  void Tell() {
    if (!callback_) return;
    told_ = Clock::now();
    base::Progress progress{.done_rows = done_rows_, .total_rows = total_rows_};
    progress.elapsed_s = std::chrono::duration<double>(told_ - began_).count();
    if (progress.elapsed_s > 0) {
      progress.rows_per_s = static_cast<double>(done_rows_) / progress.elapsed_s;
    }
    if (total_rows_ >= done_rows_ && progress.rows_per_s > 0) {
      progress.remaining_s = static_cast<double>(total_rows_ - done_rows_) / progress.rows_per_s;
    }
    callback_(progress);
  }

  const base::ProgressCallback callback_;
  int64_t total_rows_;
  int64_t done_rows_ = 0;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point told_ = began_;
};

}  // namespace kinjo::dataset
