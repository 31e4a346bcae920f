// Reading a table of files as the right side of a join: rows are numbered as they stream by, and
// the numbers are their addresses.
#pragma once

#include <cstdint>
#include <memory>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "dataset/dataset.h"
#include "dataset/filter.h"
#include "dataset/row_mask.h"
#include "predicate/predicate.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// Streams the rows of `rows` (null = all), at most `batch_rows` at a time.
std::unique_ptr<dataset::Scan> MakeTableScan(std::shared_ptr<arrow::RecordBatchReader> reader,
                                             int64_t batch_rows,
                                             std::shared_ptr<const dataset::RowMask> rows);

/// Evaluates a filter over a whole table, batch by batch.
arrow::Result<dataset::FilterAnswer> FilterTable(tabular::TableSource* source,
                                                 const predicate::Predicate& filter,
                                                 base::ThreadPool* pool,
                                                 const base::CancelToken& cancel);

}  // namespace kinjo::join
