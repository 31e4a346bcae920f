// The scan of one decoded partition whose rows and queries are bytes: the kernel gives the
// distances themselves, so that survivors need no second look.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "exec/graph_scan.h"
#include "exec/neighbor_heaps.h"
#include "index/ivf_segment.h"
#include "kernels/aligned_vector.h"
#include "kernels/byte_scan.h"

namespace kinjo::exec {

/// A thread's buffers, kept from tile to tile. Hits have room for every pair of a chunk; only what
/// survives is ever touched.
struct ByteScratch {
  kernels::PackedBytes queries;
  std::vector<uint32_t> filling;  ///< of a tile, the queries that let everything through
  kernels::AlignedVector<int32_t> minima;
  std::unique_ptr<kernels::ByteHit[]> hits;
  int64_t hits_room = 0;
};

/// Offers each query of the visit the rows that are within its threshold. Returns how many those
/// were. Requires rows.has_bytes.
arrow::Result<int64_t> ScanByteRows(const PartitionVisit& visit,
                                    const index::DecodedPartition& rows,
                                    const base::CancelToken& cancel, ByteScratch* scratch,
                                    NeighborHeaps* heaps);

}  // namespace kinjo::exec
