// How often and how long a store is asked again.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/error.h"

namespace kinjo::io {

struct RetryLimits {
  int retries_max = 10;
  int64_t timeout_ms = 180'000;  ///< no further try so long after the first one failed

  bool operator==(const RetryLimits&) const = default;
};

/// The tries of one request.
class Retry {
 public:
  explicit Retry(RetryLimits limits) : limits_(limits), begin_(std::chrono::steady_clock::now()) {}

  /// How many tries were made so far, the first one included.
  int tries() const { return tries_; }
  double seconds() const;

  /// Waits before the next try: twice as long each time, and a random part of it, so that many who
  /// failed together don't come back together; not at all `at_once`. False when the limits are used
  /// up; `cancelled` (see CancelScope) when the wait was ended.
  arrow::Result<bool> Wait(bool at_once = false);

 private:
  const RetryLimits limits_;
  const std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point failed_;  // when the first try was seen to fail
  int tries_ = 1;
};

}  // namespace kinjo::io
