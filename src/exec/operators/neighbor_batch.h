// Rows found by a search as a batch of NeighborSchema(), and back.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "arrow/record_batch.h"
#include "base/error.h"
#include "dataset/dataset.h"
#include "kernels/top_k.h"

namespace kinjo::exec {

/// `_distance` and `_rowid` of live rows, in the given order.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> MakeNeighborBatch(
    const dataset::Dataset& dataset, std::span<const kernels::Neighbor> neighbors);

/// The rows of a batch that has `_distance` and `_rowid`, with the addresses of their live rows. A
/// row id without a live row is `invalid`; a null distance becomes NaN.
arrow::Result<std::vector<kernels::Neighbor>> ReadNeighbors(const dataset::Dataset& dataset,
                                                            const arrow::RecordBatch& batch);

/// The addresses of the batch's `_rowid`. A row id without a live row is `invalid`.
arrow::Result<std::vector<dataset::RowAddress>> ReadAddresses(const dataset::Dataset& dataset,
                                                              const arrow::RecordBatch& batch);

/// `invalid` unless `schema` has `_rowid` (uint64) and, when asked for, `_distance` (float32). The
/// message starts with `what`.
arrow::Status CheckNeighborColumns(const arrow::Schema& schema, const std::string& what,
                                   bool needs_distance);

}  // namespace kinjo::exec
