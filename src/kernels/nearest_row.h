// For each query its best row, by the scores of block_scan.h: what k-means and encoding ask a
// million times. Apart from the scan because nothing is compared with a bound and nothing but the
// winner is stored: it stays in registers with the runner-up, which tells whether the float
// arithmetic settles who wins.
#pragma once

#include <cstdint>

#include "kernels/grouped_rows.h"

namespace kinjo::kernels {

/// One call: num_queries queries against all rows of groups [0, num_groups), at least one of which
/// isn't padding.
struct NearestScan {
  const float* rows;  ///< GroupedRows::rows()
  const float* init;  ///< GroupedRows::init()
  int64_t dim;        ///< at least 1
  int64_t num_groups;
  const float* queries;  ///< query i at queries + i * stride, moved by the centre of the rows
  int64_t stride;        ///< elements, at least dim
  int64_t num_queries;
};

/// The row of the smallest score, that score, and the next one (+inf where there is one row). How
/// far a score is from the truth says ScoreBlock. Of equal scores any may be `row`; then `second`
/// equals `score`. Meaningless, but for row < num_groups * kGroupRows, where a score is NaN or
/// -inf.
struct NearestRow {
  uint32_t row;
  float score;
  float second;
};

/// Pure and single-threaded; allocates scratch of about 64 * dim floats. Rows, scores and
/// runners-up may differ from level to level by rounding.
void FindNearestRows(const NearestScan& scan, NearestRow* out);

}  // namespace kinjo::kernels
