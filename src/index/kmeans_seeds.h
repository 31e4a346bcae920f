// First centroids for k-means: rows drawn with a chance that grows with their distance to those
// drawn before. In a few rounds of many at once (k-means||, Bahmani et al. 2012), which the block
// kernel serves well, and then down to as many as are wanted one by one (k-means++).
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "index/build_context.h"
#include "index/nearest_vectors.h"

namespace kinjo::index {

/// Rows to start `count` clusters of rows[num_rows][dim] from, each another vector (kDot: another
/// direction): fewer than `count` only where there are hardly more distinct ones.
arrow::Result<std::vector<uint32_t>> DrawSeeds(const float* rows, int64_t num_rows, int64_t dim,
                                               int64_t count, Nearness nearness, uint64_t seed,
                                               const BuildContext& context);

}  // namespace kinjo::index
