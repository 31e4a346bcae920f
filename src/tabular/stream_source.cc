// A stream that somebody else makes (a DataFrame, a generator) as a table that can be read once.
#include <utility>

#include "tabular/table_files.h"
#include "tabular/table_source.h"

namespace kinjo::tabular {

namespace {

// Selects columns of a stream.
class SelectingReader final : public arrow::RecordBatchReader {
 public:
  SelectingReader(std::shared_ptr<arrow::RecordBatchReader> reader, arrow::FieldVector fields)
      : reader_(std::move(reader)), schema_(arrow::schema(fields)), fields_(std::move(fields)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    ARROW_RETURN_NOT_OK(reader_->ReadNext(batch));
    if (*batch == nullptr) return arrow::Status::OK();
    return SelectFields(**batch, fields_).Value(batch);
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::FieldVector fields_;
};

class StreamSource final : public TableSource {
 public:
  StreamSource(std::shared_ptr<arrow::RecordBatchReader> reader, std::string name)
      : reader_(std::move(reader)), schema_(reader_->schema()), name_(std::move(name)) {}

  const std::string& uri() const override { return name_; }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return std::nullopt; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields, FindFields(*schema_, columns, name_));
    if (reader_ == nullptr) {
      return base::MakeError(base::ErrorCode::kState,
                             base::Concat(name_, " is a stream and was read already"));
    }
    return std::make_shared<SelectingReader>(std::move(reader_), std::move(fields));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(const std::vector<std::string>&,
                                                          std::span<const uint64_t>) override {
    return base::NotSupported("rows of ", name_, " can't be read by number: it is a stream");
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;  // null once it was given out
  const std::shared_ptr<arrow::Schema> schema_;
  const std::string name_;
  const std::string format_ = "stream";
};

}  // namespace

std::shared_ptr<TableSource> MakeStreamSource(std::shared_ptr<arrow::RecordBatchReader> reader,
                                              std::string name) {
  return std::make_shared<StreamSource>(std::move(reader), std::move(name));
}

}  // namespace kinjo::tabular
