// Rows of a batch in another order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "arrow/record_batch.h"
#include "base/error.h"

namespace kinjo::exec {

/// The batch's rows by number, in the given order; a row may come more than once.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(const arrow::RecordBatch& batch,
                                                              std::span<const int64_t> rows);

}  // namespace kinjo::exec
