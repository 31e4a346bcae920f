#include "base/cancel_scope.h"

#include <gtest/gtest.h>

#include "base/thread_pool.h"

namespace kinjo::base {
namespace {

TEST(CancelScope, TheInnermostCounts) {
  EXPECT_TRUE(CancelScope::Check().ok());
  const CancelToken outer_token;
  const CancelToken inner_token;
  const CancelScope outer(outer_token);
  {
    const CancelScope inner(inner_token);
    outer_token.Cancel();
    EXPECT_TRUE(CancelScope::Check().ok());
    inner_token.Cancel();
    EXPECT_EQ(CodeOf(CancelScope::Check()), ErrorCode::kCancelled);
  }
  EXPECT_EQ(CodeOf(CancelScope::Check()), ErrorCode::kCancelled);
}

TEST(CancelScope, ThreadsOfAPoolSeeTheTokenOfTheirLoop) {
  ThreadPool pool(3);
  const CancelToken token;
  const arrow::Status status = pool.ParallelFor(64, token, [&](int64_t item, int) {
    if (item == 5) token.Cancel();
    return item < 5 ? arrow::Status::OK() : CancelScope::Check();
  });
  EXPECT_EQ(CodeOf(status), ErrorCode::kCancelled);
  EXPECT_TRUE(CancelScope::Check().ok());
}

}  // namespace
}  // namespace kinjo::base
