// The scan of one decoded partition of bytes: every pair of a query and a row is counted out, which
// costs no more than any filter would.
#pragma once

#include <cstdint>
#include <span>

#include "base/cancel_token.h"
#include "base/error.h"
#include "exec/neighbor_heaps.h"
#include "index/ivf_segment.h"

namespace kinjo::exec {

/// Offers every row of `rows` to each of the queries. Returns the distances computed.
arrow::Result<int64_t> ScanHamming(const index::QueryBlock& queries,
                                   std::span<const uint32_t> query_ids,
                                   const index::DecodedPartition& rows,
                                   const base::CancelToken& cancel, NeighborHeaps* heaps);

}  // namespace kinjo::exec
