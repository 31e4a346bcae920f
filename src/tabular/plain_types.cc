#include "tabular/plain_types.h"

#include <algorithm>
#include <utility>

#include "arrow/compute/cast.h"
#include "arrow/type.h"

namespace kinjo::tabular {

namespace {

// Plain strings count their bytes in 31 bits.
constexpr int64_t kBatchRows = 65536;

std::shared_ptr<arrow::Field> PlainField(const std::shared_ptr<arrow::Field>& field);

std::shared_ptr<arrow::DataType> PlainType(const std::shared_ptr<arrow::DataType>& type) {
  switch (type->id()) {
    case arrow::Type::STRING_VIEW:
      return arrow::utf8();
    case arrow::Type::BINARY_VIEW:
      return arrow::binary();
    case arrow::Type::LIST:
      return arrow::list(PlainField(type->field(0)));
    case arrow::Type::LARGE_LIST:
      return arrow::large_list(PlainField(type->field(0)));
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(
          PlainField(type->field(0)),
          static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    case arrow::Type::STRUCT: {
      arrow::FieldVector fields;
      for (const auto& field : type->fields()) fields.push_back(PlainField(field));
      return arrow::struct_(fields);
    }
    default:
      return type;
  }
}

std::shared_ptr<arrow::Field> PlainField(const std::shared_ptr<arrow::Field>& field) {
  return field->WithType(PlainType(field->type()));
}

class PlainReader final : public arrow::RecordBatchReader {
 public:
  PlainReader(std::shared_ptr<arrow::RecordBatchReader> reader,
              std::shared_ptr<arrow::Schema> schema)
      : reader_(std::move(reader)), schema_(std::move(schema)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    if (rest_ == nullptr) ARROW_RETURN_NOT_OK(reader_->ReadNext(&rest_));
    if (rest_ == nullptr) {
      *batch = nullptr;
      return arrow::Status::OK();
    }
    const int64_t rows = std::min(rest_->num_rows(), kBatchRows);
    const auto piece = rest_->Slice(0, rows);
    rest_ = rows < rest_->num_rows() ? rest_->Slice(rows) : nullptr;
    arrow::ArrayVector columns;
    for (int i = 0; i < schema_->num_fields(); ++i) {
      const auto& type = schema_->field(i)->type();
      if (piece->column(i)->type()->Equals(*type)) {
        columns.push_back(piece->column(i));
      } else {
        ARROW_ASSIGN_OR_RAISE(columns.emplace_back(),
                              arrow::compute::Cast(*piece->column(i), type));
      }
    }
    *batch = arrow::RecordBatch::Make(schema_, rows, std::move(columns));
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  const std::shared_ptr<arrow::Schema> schema_;
  std::shared_ptr<arrow::RecordBatch> rest_;  // of the batch that was read last
};

}  // namespace

std::shared_ptr<arrow::RecordBatchReader> WithPlainTypes(
    std::shared_ptr<arrow::RecordBatchReader> reader) {
  arrow::FieldVector fields;
  for (const auto& field : reader->schema()->fields()) fields.push_back(PlainField(field));
  auto schema = arrow::schema(std::move(fields), reader->schema()->metadata());
  if (schema->Equals(*reader->schema())) return reader;
  return std::make_shared<PlainReader>(std::move(reader), std::move(schema));
}

}  // namespace kinjo::tabular
