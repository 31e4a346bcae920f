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
  double rows_per_s = 0;    ///< of this run: rows that an earlier one did don't count
  double remaining_s = -1;  ///< at this rate; -1 while it isn't known
};

/// Called from one thread at a time: when the run begins, then at most a few times a second, and
/// when all is done. Must return quickly.
using ProgressCallback = std::function<void(const Progress&)>;

}  // namespace kinjo::base
