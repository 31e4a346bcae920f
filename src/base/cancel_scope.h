// Which token the work of this thread can be cancelled by, for what lies far below it: a read that
// waits for a server looks at it without having been handed one.
#pragma once

#include "base/cancel_token.h"

namespace kinjo::base {

/// While it lives, its thread's waits end when `token` is raised. Scopes nest; a thread's innermost
/// counts. On the stack only.
class CancelScope {
 public:
  explicit CancelScope(const CancelToken& token);
  ~CancelScope();
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;

  /// `cancelled` once the token of this thread's innermost scope is raised; OK without a scope.
  static arrow::Status Check();

 private:
  const CancelToken token_;
  const CancelScope* const outer_;
};

}  // namespace kinjo::base
