// A flag that any thread may raise and every long loop reads.
#pragma once

#include <atomic>
#include <memory>

#include "base/error.h"

namespace kinjo::base {

/// A shared flag: copies watch the same one. Safe from any thread; Cancel() is also safe in a
/// signal handler.
class CancelToken {
 public:
  CancelToken() : cancelled_(std::make_shared<std::atomic<bool>>(false)) {}

  void Cancel() const noexcept { cancelled_->store(true, std::memory_order_relaxed); }
  bool cancelled() const noexcept { return cancelled_->load(std::memory_order_relaxed); }

  /// OK, or a `cancelled` error once Cancel() was called. Call it once a block, never once a row.
  arrow::Status Check() const {
    if (!cancelled()) return arrow::Status::OK();
    return MakeError(ErrorCode::kCancelled, "cancelled");
  }

 private:
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

}  // namespace kinjo::base
