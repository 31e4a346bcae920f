// How many bytes each row of a table takes: what bounds a batch when values are large.
#pragma once

#include <cstdint>
#include <vector>

#include "arrow/record_batch.h"

namespace kinjo::join {

/// Bytes of each row of the batch, over all columns, nested values included; estimated from the
/// average for types without offsets (views, unions).
std::vector<int64_t> RowBytes(const arrow::RecordBatch& batch);

}  // namespace kinjo::join
