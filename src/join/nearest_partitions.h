// Where left rows lie in the index that answers: what rows are brought together by, so that the
// blocks of a long left side share more of the partitions that they read.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"

namespace kinjo::join {

struct JoinPlan;

/// Reads the left side and gives for each row the partition whose centroid is nearest to its
/// vector, in the index's largest segment; -1 for rows that can't match, and for all where the
/// exact path answers or rows are lists of vectors.
arrow::Result<std::vector<int32_t>> NearestPartitions(const JoinPlan& plan,
                                                      const base::CancelToken& cancel);

}  // namespace kinjo::join
