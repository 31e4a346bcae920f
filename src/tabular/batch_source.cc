// Rows that are in memory already as a table: unlike a stream it tells how many, and can be read
// again.
#include <utility>

#include "tabular/table_files.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {

namespace {

class BatchSource final : public TableSource {
 public:
  BatchSource(std::shared_ptr<arrow::RecordBatch> rows, std::string name)
      : rows_(std::move(rows)), schema_(rows_->schema()), name_(std::move(name)) {}

  const std::string& uri() const override { return name_; }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return rows_->num_rows(); }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields, FindFields(*schema_, columns, name_));
    ARROW_ASSIGN_OR_RAISE(auto selected, SelectFields(*rows_, fields));
    return arrow::RecordBatchReader::Make({std::move(selected)}, arrow::schema(std::move(fields)));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields, FindFields(*schema_, columns, name_));
    ARROW_ASSIGN_OR_RAISE(auto reader, Read(columns));
    return TakeFromStream(reader.get(), fields, ordinals, 0);
  }

 private:
  const std::shared_ptr<arrow::RecordBatch> rows_;
  const std::shared_ptr<arrow::Schema> schema_;
  const std::string name_;
  const std::string format_ = "memory";
};

}  // namespace

std::shared_ptr<TableSource> MakeBatchSource(std::shared_ptr<arrow::RecordBatch> rows,
                                             std::string name) {
  return std::make_shared<BatchSource>(std::move(rows), std::move(name));
}

}  // namespace kinjo::tabular
