#include "exec/hamming_scan.h"

#include "kernels/canonical_distance.h"

namespace kinjo::exec {

arrow::Result<int64_t> ScanHamming(const index::QueryBlock& queries,
                                   std::span<const uint32_t> query_ids,
                                   const index::DecodedPartition& rows,
                                   const base::CancelToken& cancel, NeighborHeaps* heaps) {
  constexpr size_t kRowsPerCheck = 1024;
  const int64_t dim = queries.dim;
  const size_t num_rows = rows.addresses.size();
  for (size_t slot = 0; slot < num_rows; ++slot) {
    if (slot % kRowsPerCheck == 0) ARROW_RETURN_NOT_OK(cancel.Check());
    const uint8_t* row = rows.codes->data() + rows.storage_position[slot] * dim;
    for (const uint32_t id : query_ids) {
      const auto distance =
          static_cast<float>(kernels::HammingDistance(queries.query_bytes(id), row, dim));
      if (distance <= heaps->threshold(id)) heaps->Push(id, {distance, rows.addresses[slot]});
    }
  }
  return static_cast<int64_t>(num_rows * query_ids.size());
}

}  // namespace kinjo::exec
