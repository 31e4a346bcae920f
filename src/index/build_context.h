// What long work on an index is handed: the threads, the flag that stops it, and who is told how
// far it is.
#pragma once

#include <functional>

#include "base/cancel_token.h"
#include "base/thread_pool.h"

namespace kinjo::index {

struct BuildContext {
  base::ThreadPool* pool = nullptr;  ///< never null; nobody inside one of its loops may build
  base::CancelToken cancel;
  /// Told the part of the work at hand that is done, rising to 1, by the calling thread. May be
  /// empty; must return quickly.
  std::function<void(double part)> progress;

  void Report(double part) const {
    if (progress) progress(part);
  }
};

}  // namespace kinjo::index
