// Columns as the engine computes with them: others hand over strings and binaries as views (polars,
// DuckDB), which Arrow's kernels that gather rows don't have.
#pragma once

#include <memory>

#include "arrow/record_batch.h"
#include "base/error.h"

namespace kinjo::tabular {

/// The reader itself, or one that gives string and binary views, also inside lists and structs, as
/// plain strings and binaries. Its batches then have at most 65,536 rows.
std::shared_ptr<arrow::RecordBatchReader> WithPlainTypes(
    std::shared_ptr<arrow::RecordBatchReader> reader);

}  // namespace kinjo::tabular
