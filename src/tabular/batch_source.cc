// Rows that are in memory already as a table: unlike a stream it tells how many, can be read again,
// and by number.
#include <utility>

#include "tabular/table_files.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {

namespace {

class RowsSource final : public TableSource {
 public:
  RowsSource(std::shared_ptr<arrow::Schema> schema, arrow::RecordBatchVector batches,
             std::string name)
      : batches_(std::move(batches)), schema_(std::move(schema)), name_(std::move(name)) {
    for (const auto& batch : batches_) num_rows_ += batch->num_rows();
  }

  const std::string& uri() const override { return name_; }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return num_rows_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields, FindFields(*schema_, columns, name_));
    arrow::RecordBatchVector selected;
    for (const auto& batch : batches_) {
      ARROW_ASSIGN_OR_RAISE(selected.emplace_back(), SelectFields(*batch, fields));
    }
    return arrow::RecordBatchReader::Make(std::move(selected), arrow::schema(std::move(fields)));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields, FindFields(*schema_, columns, name_));
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::RecordBatchReader::Make(batches_, schema_));
    return TakeFromStream(reader.get(), fields, ordinals, 0);
  }

 private:
  const arrow::RecordBatchVector batches_;
  const std::shared_ptr<arrow::Schema> schema_;
  const std::string name_;
  const std::string format_ = "memory";
  int64_t num_rows_ = 0;
};

}  // namespace

std::shared_ptr<TableSource> MakeRowsSource(std::shared_ptr<arrow::Schema> schema,
                                            arrow::RecordBatchVector batches, std::string name) {
  return std::make_shared<RowsSource>(std::move(schema), std::move(batches), std::move(name));
}

std::shared_ptr<TableSource> MakeBatchSource(std::shared_ptr<arrow::RecordBatch> rows,
                                             std::string name) {
  auto schema = rows->schema();
  return MakeRowsSource(std::move(schema), {std::move(rows)}, std::move(name));
}

}  // namespace kinjo::tabular
