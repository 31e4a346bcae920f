// How far a long job is. Told by the executor, shown by a face.
#pragma once

#include <cstdint>
#include <functional>

namespace kinjo::base {

/// One report. `total_rows` is -1 while it isn't known.
struct Progress {
  int64_t done_rows = 0;
  int64_t total_rows = -1;
  double elapsed_s = 0;
};

/// Called from one thread at a time, at most a few times a second; must return quickly.
using ProgressCallback = std::function<void(const Progress&)>;

}  // namespace kinjo::base
