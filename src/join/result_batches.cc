#include "join/result_batches.h"

#include <algorithm>
#include <numeric>

#include "arrow/array.h"
#include "arrow/array/util.h"
#include "arrow/builder.h"
#include "arrow/compute/api_vector.h"
#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

/// An array from `value(i)`; null where `valid(i)` is false.
template <typename Builder, typename Value, typename Valid>
arrow::Result<std::shared_ptr<arrow::Array>> Build(size_t rows, Value value, Valid valid) {
  Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(rows)));
  for (size_t i = 0; i < rows; ++i) {
    if (valid(i)) {
      builder.UnsafeAppend(value(i));
    } else {
      builder.UnsafeAppendNull();
    }
  }
  return builder.Finish();
}

arrow::Status AppendTaken(const arrow::RecordBatch& source,
                          const std::shared_ptr<arrow::Array>& indices,
                          arrow::ArrayVector* columns) {
  for (int i = 0; i < source.num_columns(); ++i) {
    ARROW_ASSIGN_OR_RAISE(auto taken,
                          arrow::compute::Take(*source.column(i), *indices,
                                               arrow::compute::TakeOptions::NoBoundsCheck()));
    columns->push_back(std::move(taken));
  }
  return arrow::Status::OK();
}

}  // namespace

std::vector<ResultBatches::Row> ResultBatches::Expand(
    const LeftBlock& block, const std::vector<std::vector<kernels::Neighbor>>& matches,
    const std::vector<std::vector<bool>>* kept) {
  size_t expected = static_cast<size_t>(block.num_rows);
  for (const auto& list : matches) expected += list.size();
  std::vector<Row> rows;
  rows.reserve(expected);
  for (int64_t left_row = 0; left_row < block.num_rows; ++left_row) {
    const int32_t query = block.query_of_row[left_row];
    int32_t rank = 0;
    for (size_t i = 0; query >= 0 && i < matches[query].size(); ++i) {
      if (kept == nullptr || (*kept)[left_row][i])
        rows.push_back({left_row, ++rank, matches[query][i]});
    }
    if (rank == 0 && plan_.options.how == How::kLeft) rows.push_back({left_row, 0, {}});
  }
  counters_->result_rows.fetch_add(static_cast<int64_t>(rows.size()), std::memory_order_relaxed);
  return rows;
}

size_t ResultBatches::GroupRows() const {
  // The first group tells how large a right row is.
  constexpr int64_t kFirstRows = 256;
  if (plan_.layout.right_columns.empty()) return static_cast<size_t>(kOutputBatchRows);
  if (right_row_bytes_ == 0) return static_cast<size_t>(kFirstRows);
  const int64_t rows = plan_.memory.take_bytes / 2 / right_row_bytes_;
  return static_cast<size_t>(std::max<int64_t>(rows, 1));
}

arrow::Result<ResultBatches::TakenRows> ResultBatches::TakeRight(std::span<const Row> rows) {
  TakenRows taken;
  if (plan_.layout.right_columns.empty() && !plan_.layout.row_id) {
    taken.positions.resize(rows.size());
    return taken;
  }
  const PhaseTimer timer(&counters_->take_ns);
  if (plan_.layout.right_columns.empty()) {
    // Ids alone cost less than finding equal rows.
    taken.positions.reserve(rows.size());
    for (const Row& row : rows) {
      taken.positions.push_back(static_cast<int64_t>(taken.addresses.size()));
      if (row.rank > 0) taken.addresses.push_back(row.neighbor.address);
    }
    taken.row_ids.resize(taken.addresses.size());
    ARROW_RETURN_NOT_OK(plan_.right->RowIds(taken.addresses, taken.row_ids));
    return taken;
  }
  for (const Row& row : rows) {
    if (row.rank > 0) taken.addresses.push_back(row.neighbor.address);
  }
  std::sort(taken.addresses.begin(), taken.addresses.end());
  taken.addresses.erase(std::unique(taken.addresses.begin(), taken.addresses.end()),
                        taken.addresses.end());
  taken.positions.reserve(rows.size());
  for (const Row& row : rows) {
    const auto at =
        std::lower_bound(taken.addresses.begin(), taken.addresses.end(), row.neighbor.address);
    taken.positions.push_back(row.rank > 0 ? at - taken.addresses.begin() : 0);
  }
  if (plan_.layout.row_id) {
    taken.row_ids.resize(taken.addresses.size());
    ARROW_RETURN_NOT_OK(plan_.right->RowIds(taken.addresses, taken.row_ids));
  }
  if (taken.addresses.empty()) return taken;
  ARROW_ASSIGN_OR_RAISE(taken.columns,
                        plan_.right->Take(plan_.layout.right_columns, taken.addresses));
  if (taken.columns->num_rows() != static_cast<int64_t>(taken.addresses.size())) {
    return base::Internal("take asked for ", taken.addresses.size(), " right rows and got ",
                          taken.columns->num_rows());
  }
  taken.bytes = RowBytes(*taken.columns);
  right_row_bytes_ = 1 + std::accumulate(taken.bytes.begin(), taken.bytes.end(), int64_t{0}) /
                             static_cast<int64_t>(taken.bytes.size());
  return taken;
}

arrow::Status ResultBatches::AppendJoinColumns(const LeftBlock& block, std::span<const Row> rows,
                                               const TakenRows& taken,
                                               std::span<const int64_t> positions,
                                               arrow::ArrayVector* columns) const {
  const auto matched = [&](size_t i) { return rows[i].rank > 0; };
  const auto always = [](size_t) { return true; };
  ARROW_ASSIGN_OR_RAISE(
      auto distance,
      Build<arrow::FloatBuilder>(
          rows.size(), [&](size_t i) { return rows[i].neighbor.distance; }, matched));
  columns->push_back(std::move(distance));
  ARROW_ASSIGN_OR_RAISE(
      auto rank,
      Build<arrow::Int32Builder>(rows.size(), [&](size_t i) { return rows[i].rank; }, matched));
  columns->push_back(std::move(rank));
  if (plan_.layout.row_id) {
    ARROW_ASSIGN_OR_RAISE(
        auto row_id,
        Build<arrow::UInt64Builder>(
            rows.size(), [&](size_t i) { return taken.row_ids[positions[i]]; }, matched));
    columns->push_back(std::move(row_id));
  }
  if (plan_.layout.query_index) {
    ARROW_ASSIGN_OR_RAISE(
        auto ordinal,
        Build<arrow::Int64Builder>(
            rows.size(), [&](size_t i) { return block.first_row + rows[i].left_row; }, always));
    columns->push_back(std::move(ordinal));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> ResultBatches::Assemble(
    const LeftBlock& block, std::span<const Row> rows, const TakenRows& taken,
    std::span<const int64_t> positions) const {
  arrow::ArrayVector columns;
  ARROW_ASSIGN_OR_RAISE(
      const auto left_indices,
      Build<arrow::Int64Builder>(
          rows.size(), [&](size_t i) { return rows[i].left_row; }, [](size_t) { return true; }));
  ARROW_RETURN_NOT_OK(AppendTaken(*block.columns, left_indices, &columns));
  if (taken.columns != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const auto right_indices,
                          Build<arrow::Int64Builder>(
                              rows.size(), [&](size_t i) { return positions[i]; },
                              [&](size_t i) { return rows[i].rank > 0; }));
    ARROW_RETURN_NOT_OK(AppendTaken(*taken.columns, right_indices, &columns));
  } else {
    for (size_t i = 0; i < plan_.layout.right_columns.size(); ++i) {
      const auto& field = plan_.layout.schema->field(static_cast<int>(columns.size()));
      ARROW_ASSIGN_OR_RAISE(
          auto nulls, arrow::MakeArrayOfNull(field->type(), static_cast<int64_t>(rows.size())));
      columns.push_back(std::move(nulls));
    }
  }
  ARROW_RETURN_NOT_OK(AppendJoinColumns(block, rows, taken, positions, &columns));
  return arrow::RecordBatch::Make(plan_.layout.schema, static_cast<int64_t>(rows.size()),
                                  std::move(columns));
}

size_t ResultBatches::BatchRows(std::span<const int64_t> left_bytes, std::span<const Row> group,
                                const TakenRows& taken, size_t first) const {
  const size_t most = std::min<size_t>(kOutputBatchRows, group.size() - first);
  int64_t bytes = 0;
  for (size_t i = 0; i < most; ++i) {
    const Row& row = group[first + i];
    bytes += left_bytes[row.left_row];
    if (row.rank > 0 && !taken.bytes.empty()) bytes += taken.bytes[taken.positions[first + i]];
    // One is made, one waits, one is written.
    if (i > 0 && bytes > plan_.memory.take_bytes / 4) return i;
  }
  return most;
}

arrow::Status ResultBatches::EmitGroup(const LeftBlock& block, std::span<const int64_t> left_bytes,
                                       std::span<const Row> group,
                                       const stream::ResultStream::Emit& emit) {
  ARROW_ASSIGN_OR_RAISE(const TakenRows taken, TakeRight(group));
  for (size_t first = 0; first < group.size();) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    const size_t rows = BatchRows(left_bytes, group, taken, first);
    const auto positions = std::span(taken.positions).subspan(first, rows);
    std::shared_ptr<arrow::RecordBatch> batch;
    {
      const PhaseTimer timer(&counters_->take_ns);
      ARROW_ASSIGN_OR_RAISE(batch, Assemble(block, group.subspan(first, rows), taken, positions));
    }
    ARROW_RETURN_NOT_OK(emit(std::move(batch)));
    first += rows;
  }
  return arrow::Status::OK();
}

arrow::Status ResultBatches::Emit(const LeftBlock& block,
                                  const std::vector<std::vector<kernels::Neighbor>>& matches,
                                  const std::vector<std::vector<bool>>* kept,
                                  const stream::ResultStream::Emit& emit) {
  const std::vector<Row> all = Expand(block, matches, kept);
  const std::vector<int64_t> left_bytes = RowBytes(*block.columns);
  std::span<const Row> rest(all);
  while (!rest.empty()) {
    const auto group = rest.first(std::min(GroupRows(), rest.size()));
    rest = rest.subspan(group.size());
    ARROW_RETURN_NOT_OK(EmitGroup(block, left_bytes, group, emit));
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::join
