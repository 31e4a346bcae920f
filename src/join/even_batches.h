// Batches cut again, so that where they end depends on their rows alone: how a run came by them
// (memory, threads, where it was continued) must not show in the bytes of a file.
#pragma once

#include <functional>
#include <memory>

#include "arrow/record_batch.h"
#include "base/error.h"

namespace kinjo::join {

/// One thread.
class EvenBatches {
 public:
  using Take = std::function<arrow::Status(const arrow::RecordBatch&)>;

  /// `take` is given each batch that is full.
  explicit EvenBatches(Take take) : take_(std::move(take)) {}

  /// Adds rows behind those before.
  arrow::Status Add(const std::shared_ptr<arrow::RecordBatch>& batch);
  /// Gives what is left; the next batch begins anew.
  arrow::Status Flush();

 private:
  Take take_;
  arrow::RecordBatchVector pending_;
  int64_t rows_ = 0;  // of the pending
  int64_t bytes_ = 0;
};

}  // namespace kinjo::join
