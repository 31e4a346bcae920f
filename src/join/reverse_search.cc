#include "join/reverse_search.h"

#include <algorithm>
#include <span>
#include <utility>

#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

/// Reads rows of the right side, some at a time.
class MatchedRowReader final : public arrow::RecordBatchReader {
 public:
  MatchedRowReader(std::shared_ptr<RightSide> right, std::vector<std::string> columns,
                   std::shared_ptr<arrow::Schema> schema, std::span<const uint64_t> addresses,
                   size_t batch_rows)
      : right_(std::move(right)),
        columns_(std::move(columns)),
        schema_(std::move(schema)),
        rest_(addresses),
        batch_rows_(batch_rows) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    *batch = nullptr;
    if (rest_.empty()) return arrow::Status::OK();
    const auto some = rest_.first(std::min(batch_rows_, rest_.size()));
    rest_ = rest_.subspan(some.size());
    return right_->Take(columns_, some).Value(batch);
  }

 private:
  std::shared_ptr<RightSide> right_;
  std::vector<std::string> columns_;
  std::shared_ptr<arrow::Schema> schema_;
  std::span<const uint64_t> rest_;
  size_t batch_rows_;
};

/// Rows of the right side as a table.
class MatchedRows final : public tabular::TableSource {
 public:
  MatchedRows(std::shared_ptr<RightSide> right, const std::vector<uint64_t>* addresses,
              int64_t batch_bytes)
      : right_(std::move(right)),
        schema_(right_->schema()),
        addresses_(addresses),
        batch_bytes_(batch_bytes) {}

  const std::string& uri() const override { return right_->uri(); }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override {
    return static_cast<int64_t>(addresses_->size());
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    const std::vector<std::string> names = columns.value_or(schema_->field_names());
    arrow::FieldVector fields;
    int64_t row_bytes = 1;
    for (const std::string& name : names) {
      fields.push_back(schema_->GetFieldByName(name));
      row_bytes += ValueBytes(*fields.back()->type());
    }
    const int64_t rows = std::clamp<int64_t>(batch_bytes_ / row_bytes, 1, kScanBatchRows);
    return std::make_shared<MatchedRowReader>(right_, names, arrow::schema(std::move(fields)),
                                              *addresses_, static_cast<size_t>(rows));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    std::vector<uint64_t> addresses;
    for (const uint64_t ordinal : ordinals) addresses.push_back((*addresses_)[ordinal]);
    return right_->Take(columns, addresses);
  }

 private:
  const std::shared_ptr<RightSide> right_;
  const std::shared_ptr<arrow::Schema> schema_;
  const std::vector<uint64_t>* addresses_;
  const int64_t batch_bytes_;
  const std::string format_ = "matched rows";
};

}  // namespace

JoinPlan MakeReversePlan(const JoinPlan& plan, const std::vector<uint64_t>* addresses) {
  JoinPlan reverse;
  reverse.options.k = plan.options.k;
  reverse.options.distance_range = plan.options.distance_range;
  reverse.left = std::make_shared<MatchedRows>(plan.right, addresses, plan.memory.take_bytes / 2);
  reverse.right = MakeTableSide(plan.left);
  reverse.left_vector = plan.right_vector;
  reverse.right_vector = plan.left_vector;
  reverse.choice.metric = plan.metric();
  reverse.range = plan.range;
  reverse.memory = plan.memory;
  reverse.threads = plan.threads;
  reverse.candidates = reverse.wanted = plan.options.k;
  return reverse;
}

}  // namespace kinjo::join
