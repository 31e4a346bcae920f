#include "exec/operators/row_gather.h"

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "arrow/compute/api_vector.h"

namespace kinjo::exec {

arrow::Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(const arrow::RecordBatch& batch,
                                                              std::span<const int64_t> rows) {
  const auto count = static_cast<int64_t>(rows.size());
  const arrow::Int64Array indices(
      count, std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(rows.data()),
                                             count * static_cast<int64_t>(sizeof(int64_t))));
  arrow::ArrayVector columns;
  columns.reserve(static_cast<size_t>(batch.num_columns()));
  for (const auto& column : batch.columns()) {
    ARROW_ASSIGN_OR_RAISE(auto taken, arrow::compute::Take(*column, indices));
    columns.push_back(std::move(taken));
  }
  return arrow::RecordBatch::Make(batch.schema(), count, std::move(columns));
}

}  // namespace kinjo::exec
