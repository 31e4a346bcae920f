#include "join/cluster_batches.h"

#include <algorithm>
#include <span>

#include "arrow/builder.h"
#include "join/result_batches.h"
#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

// Rows from `first` on that one batch may hold, at least 1.
int64_t BatchRows(std::span<const int64_t> row_bytes, int64_t first, int64_t most_bytes) {
  const auto rows = static_cast<int64_t>(row_bytes.size());
  const int64_t most = std::min(kOutputBatchRows, rows - first);
  int64_t bytes = 0;
  for (int64_t i = 0; i < most; ++i) {
    bytes += row_bytes[static_cast<size_t>(first + i)];
    if (i > 0 && bytes > most_bytes) return i;
  }
  return most;
}

template <typename Value>
arrow::Result<std::shared_ptr<arrow::Array>> Ordinals(int64_t rows, Value value) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(rows));
  for (int64_t i = 0; i < rows; ++i) builder.UnsafeAppend(value(i));
  return builder.Finish();
}

}  // namespace

arrow::Status EmitClusters(const JoinPlan& plan, const LeftBlock& block, Pairing* pairing,
                           const base::CancelToken& cancel, RunCounters* counters,
                           const stream::ResultStream::Emit& emit) {
  const std::vector<int64_t> row_bytes = RowBytes(*block.columns);
  for (int64_t first = 0; first < block.num_rows;) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    const int64_t rows = BatchRows(row_bytes, first, plan.memory.take_bytes / 2);
    arrow::ArrayVector columns = block.columns->Slice(first, rows)->columns();
    const int64_t first_row = block.first_row + first;
    ARROW_ASSIGN_OR_RAISE(auto clusters, Ordinals(rows, [&](int64_t i) {
                            return pairing->ClusterOf(first_row + i);
                          }));
    columns.push_back(std::move(clusters));
    if (plan.layout.query_index) {
      ARROW_ASSIGN_OR_RAISE(auto ordinals,
                            Ordinals(rows, [&](int64_t i) { return first_row + i; }));
      columns.push_back(std::move(ordinals));
    }
    counters->result_rows.fetch_add(rows, std::memory_order_relaxed);
    ARROW_RETURN_NOT_OK(
        emit(arrow::RecordBatch::Make(plan.layout.schema, rows, std::move(columns))));
    first += rows;
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::join
