#include "join/table_scan.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "arrow/array/builder_primitive.h"
#include "arrow/compute/api_vector.h"
#include "arrow/datum.h"
#include "arrow/record_batch.h"

namespace kinjo::join {

namespace {

class TableScan final : public dataset::Scan {
 public:
  TableScan(std::shared_ptr<arrow::RecordBatchReader> reader, int64_t batch_rows,
            std::shared_ptr<const dataset::RowMask> rows)
      : reader_(std::move(reader)), batch_rows_(batch_rows), rows_(std::move(rows)) {
    if (rows_ != nullptr) rows_left_ = rows_->count();
  }

  arrow::Result<dataset::ScanBatch> Next() override {
    while (true) {
      dataset::ScanBatch out;
      if (rows_ != nullptr && rows_left_ == 0) return out;
      if (pending_ == nullptr || pending_offset_ >= pending_->num_rows()) {
        ARROW_ASSIGN_OR_RAISE(pending_, reader_->Next());
        pending_offset_ = 0;
        if (pending_ == nullptr) return out;
      }
      const int64_t rows = std::min(batch_rows_, pending_->num_rows() - pending_offset_);
      out.batch = pending_->Slice(pending_offset_, rows);
      pending_offset_ += rows;
      out.addresses.resize(static_cast<size_t>(rows));
      for (uint64_t& address : out.addresses) address = next_ordinal_++;
      if (rows_ == nullptr) return out;
      ARROW_RETURN_NOT_OK(Narrow(&out));
      if (!out.addresses.empty()) return out;
    }
  }

 private:
  /// Leaves the rows of the mask.
  arrow::Status Narrow(dataset::ScanBatch* out) {
    arrow::Int64Builder chosen;
    std::vector<dataset::RowAddress> addresses;
    for (size_t i = 0; i < out->addresses.size(); ++i) {
      if (!rows_->Contains(out->addresses[i])) continue;
      addresses.push_back(out->addresses[i]);
      ARROW_RETURN_NOT_OK(chosen.Append(static_cast<int64_t>(i)));
    }
    rows_left_ -= addresses.size();
    const bool all = addresses.size() == out->addresses.size();
    out->addresses = std::move(addresses);
    if (all || out->addresses.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto numbers, chosen.Finish());
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                          arrow::compute::Take(arrow::Datum(out->batch), arrow::Datum(numbers)));
    out->batch = taken.record_batch();
    return arrow::Status::OK();
  }

  std::shared_ptr<arrow::RecordBatchReader> reader_;
  const int64_t batch_rows_;
  const std::shared_ptr<const dataset::RowMask> rows_;
  uint64_t rows_left_ = 0;  ///< of the mask
  std::shared_ptr<arrow::RecordBatch> pending_;
  int64_t pending_offset_ = 0;
  uint64_t next_ordinal_ = 0;
};

/// Batches that are evaluated together, and where each begins.
struct Batches {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::vector<uint64_t> first_rows;
};

arrow::Result<Batches> ReadSome(arrow::RecordBatchReader* reader, size_t count,
                                uint64_t* next_row) {
  Batches some;
  while (some.batches.size() < count) {
    ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
    if (batch == nullptr) break;
    some.first_rows.push_back(*next_row);
    *next_row += static_cast<uint64_t>(batch->num_rows());
    some.batches.push_back(std::move(batch));
  }
  return some;
}

arrow::Status FilterBatch(const predicate::Predicate& filter, const arrow::RecordBatch& batch,
                          uint64_t first_row, std::vector<dataset::RowAddress>* passing) {
  ARROW_ASSIGN_OR_RAISE(const auto truth, filter.Evaluate(batch));
  std::vector<dataset::RowAddress> addresses(static_cast<size_t>(batch.num_rows()));
  for (uint64_t& address : addresses) address = first_row++;
  return dataset::KeepPassing(*truth, addresses, passing);
}

}  // namespace

std::unique_ptr<dataset::Scan> MakeTableScan(std::shared_ptr<arrow::RecordBatchReader> reader,
                                             int64_t batch_rows,
                                             std::shared_ptr<const dataset::RowMask> rows) {
  return std::make_unique<TableScan>(std::move(reader), batch_rows, std::move(rows));
}

arrow::Result<dataset::FilterAnswer> FilterTable(tabular::TableSource* source,
                                                 const predicate::Predicate& filter,
                                                 base::ThreadPool* pool,
                                                 const base::CancelToken& cancel) {
  std::vector<std::string> columns = filter.columns();
  // A filter without columns still wants to know how many rows there are.
  if (columns.empty()) columns.push_back(source->schema()->field(0)->name());
  ARROW_ASSIGN_OR_RAISE(const auto reader, source->Read(columns));
  dataset::RowMask rows;
  uint64_t next_row = 0;
  const auto at_a_time = static_cast<size_t>(pool->size());
  std::vector<std::vector<dataset::RowAddress>> passing(at_a_time);
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const Batches some, ReadSome(reader.get(), at_a_time, &next_row));
    const auto count = static_cast<int64_t>(some.batches.size());
    if (count == 0) break;
    ARROW_RETURN_NOT_OK(pool->ParallelFor(count, cancel, [&](int64_t i, int) {
      return FilterBatch(filter, *some.batches[i], some.first_rows[i], &passing[i]);
    }));
    for (int64_t i = 0; i < count; ++i) rows.Add(passing[i]);
  }
  dataset::FilterAnswer answer;
  answer.rows = std::make_shared<const dataset::RowMask>(std::move(rows));
  answer.rows_evaluated = static_cast<int64_t>(next_row);
  return answer;
}

}  // namespace kinjo::join
