// From what the vectors of a left list found in an index to the right rows worth a look: each row's
// distance, estimated from the nearest vector of it that each left vector met.
#pragma once

#include <span>
#include <vector>

#include "kernels/top_k.h"

namespace kinjo::exec {

/// `found[j]` holds what vector j of the left list found: right vectors, nearest first, each by the
/// address of its row (which may come several times). Returns every row that one of them met, by
/// rising address. A vector that didn't meet the row counts with the distance of the farthest that
/// it found, or 1 if it found nothing. The distances are summed in double, in the order of `found`.
std::vector<kernels::Neighbor> EstimateRows(std::span<const std::vector<kernels::Neighbor>> found);

}  // namespace kinjo::exec
