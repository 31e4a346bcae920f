// How many bytes each row of a table takes, guessed from its types and counted in a batch: what
// memory plans count with, and what bounds a batch when values are large.
#pragma once

#include <cstdint>
#include <vector>

#include "arrow/record_batch.h"
#include "arrow/type.h"

namespace kinjo::join {

/// Bytes that a value of the type is taken to have before one was read: its width, that of all
/// elements or children; a guess for values without a width.
int64_t ValueBytes(const arrow::DataType& type);

/// Bytes of each row of the batch, over all columns, nested values included; estimated from the
/// average for types without offsets (views, unions).
std::vector<int64_t> RowBytes(const arrow::RecordBatch& batch);

}  // namespace kinjo::join
