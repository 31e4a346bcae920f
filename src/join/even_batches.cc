#include "join/even_batches.h"

#include <vector>

#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

constexpr int64_t kRowsMax = 8192;
constexpr int64_t kBytesMax = int64_t{4} << 20;

}  // namespace

arrow::Status EvenBatches::Add(const std::shared_ptr<arrow::RecordBatch>& batch) {
  const std::vector<int64_t> row_bytes = RowBytes(*batch);
  int64_t first = 0;
  for (int64_t row = 0; row < batch->num_rows(); ++row) {
    ++rows_;
    bytes_ += row_bytes[row];
    if (rows_ < kRowsMax && bytes_ < kBytesMax) continue;
    pending_.push_back(batch->Slice(first, row + 1 - first));
    first = row + 1;
    ARROW_RETURN_NOT_OK(Flush());
  }
  if (first < batch->num_rows()) pending_.push_back(batch->Slice(first));
  return arrow::Status::OK();
}

arrow::Status EvenBatches::Flush() {
  rows_ = bytes_ = 0;
  if (pending_.empty()) return arrow::Status::OK();
  // A copy, also of a single slice: the rows before it would be part of its buffers.
  ARROW_ASSIGN_OR_RAISE(const auto whole, arrow::ConcatenateRecordBatches(pending_));
  pending_.clear();
  return take_(*whole);
}

}  // namespace kinjo::join
