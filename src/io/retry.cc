#include "io/retry.h"

#include <algorithm>
#include <random>
#include <thread>

#include "base/cancel_scope.h"

namespace kinjo::io {
namespace {

constexpr int64_t kFirstWaitMs = 100;
constexpr int64_t kLongestWaitMs = 15'000;
constexpr int64_t kStepMs = 50;  // how often a wait looks at the token

}  // namespace

double Retry::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

arrow::Result<bool> Retry::Wait(bool at_once) {
  const auto now = std::chrono::steady_clock::now();
  if (tries_ == 1) failed_ = now;  // a try may be many requests, and take long by itself
  if (tries_ > limits_.retries_max) return false;
  if (now - failed_ >= std::chrono::milliseconds(limits_.timeout_ms)) return false;
  const int64_t longest = std::min(kFirstWaitMs << std::min(tries_ - 1, 20), kLongestWaitMs);
  std::random_device random;
  int64_t left = longest / 2 + static_cast<int64_t>(random()) % (longest / 2 + 1);
  ++tries_;
  if (at_once) return true;
  for (; left > 0; left -= kStepMs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(left, kStepMs)));
    ARROW_RETURN_NOT_OK(base::CancelScope::Check());
  }
  return true;
}

}  // namespace kinjo::io
