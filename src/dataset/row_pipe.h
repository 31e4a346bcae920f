// Rows on their way from a source to a writer: the next ones are read while those before are
// written. Apart, because it is all that knows of two threads in a write.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"

namespace kinjo::dataset {

/// Gives the next batch, null at the end.
using ReadRows = std::function<arrow::Result<std::shared_ptr<arrow::RecordBatch>>()>;
using WriteRows = std::function<arrow::Status(const arrow::RecordBatch&)>;

/// Writes every batch that `read` gives, in order. Each of the two is called on one thread, `read`
/// on another than `write` where the pool (may be null) has two; then at most `most_bytes` of
/// batches, or one, wait between them. An error of `read` comes first. Requires: no loop of the
/// pool runs.
arrow::Status PipeRows(const ReadRows& read, const WriteRows& write, int64_t most_bytes,
                       base::ThreadPool* pool, const base::CancelToken& cancel);

}  // namespace kinjo::dataset
