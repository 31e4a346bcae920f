#include "tabular/table_file.h"

#include <cerrno>
#include <utility>
#include <vector>

#include "arrow/array/builder_primitive.h"
#include "arrow/array/concatenate.h"
#include "arrow/compute/api_vector.h"
#include "arrow/util/io_util.h"

namespace kinjo::tabular {

namespace {

// The rows of `batch` at the rising positions `rows`. A run without gaps is a slice: no copy.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> PickRows(const arrow::RecordBatch& batch,
                                                            std::span<const int64_t> rows) {
  const int64_t count = static_cast<int64_t>(rows.size());
  if (rows.back() - rows.front() + 1 == count) return batch.Slice(rows.front(), count);
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.AppendValues(rows.data(), count));
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> indices, builder.Finish());
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const std::shared_ptr<arrow::Array>& column : batch.columns()) {
    ARROW_ASSIGN_OR_RAISE(
        std::shared_ptr<arrow::Array> taken,
        arrow::compute::Take(*column, *indices, arrow::compute::TakeOptions::NoBoundsCheck()));
    columns.push_back(std::move(taken));
  }
  return arrow::RecordBatch::Make(batch.schema(), count, std::move(columns));
}

class NamingReader final : public arrow::RecordBatchReader {
 public:
  NamingReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::shared_ptr<void> owner,
               std::string uri, base::ErrorCode bad_bytes)
      : owner_(std::move(owner)),
        reader_(std::move(reader)),
        uri_(std::move(uri)),
        bad_bytes_(bad_bytes) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    return FileError(reader_->ReadNext(batch), uri_, bad_bytes_);
  }

 private:
  std::shared_ptr<void> owner_;  // goes after the reader, which borrows from it
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::string uri_;
  base::ErrorCode bad_bytes_;
};

}  // namespace

arrow::Result<std::shared_ptr<arrow::RecordBatch>> TableFile::Take(
    const arrow::FieldVector& fields, std::span<const uint64_t> ordinals) {
  constexpr int64_t kBatchRows = 8192;
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatchReader> reader, Read(fields, kBatchRows));
  return TakeFromStream(reader.get(), fields, ordinals, 0);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> SelectFields(const arrow::RecordBatch& batch,
                                                                const arrow::FieldVector& fields) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const std::shared_ptr<arrow::Field>& field : fields) {
    std::shared_ptr<arrow::Array> column = batch.GetColumnByName(field->name());
    if (column == nullptr || !column->type()->Equals(*field->type())) {
      return base::Internal("a file reader gave column ", field->name(), " as ",
                            column == nullptr ? "nothing" : column->type()->ToString(),
                            " instead of ", field->type()->ToString());
    }
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), batch.num_rows(), std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> TakeFromStream(
    arrow::RecordBatchReader* reader, const arrow::FieldVector& fields,
    std::span<const uint64_t> ordinals, uint64_t first_row) {
  arrow::RecordBatchVector pieces;
  std::vector<int64_t> rows;
  size_t next = 0;
  while (next < ordinals.size()) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return base::Invalid("row ", ordinals[next], " was asked for, but there are only ", first_row,
                           " rows");
    }
    const uint64_t end = first_row + static_cast<uint64_t>(batch->num_rows());
    rows.clear();
    for (; next < ordinals.size() && ordinals[next] < end; ++next) {
      rows.push_back(static_cast<int64_t>(ordinals[next] - first_row));
    }
    first_row = end;
    if (rows.empty()) continue;
    ARROW_ASSIGN_OR_RAISE(batch, SelectFields(*batch, fields));
    ARROW_ASSIGN_OR_RAISE(batch, PickRows(*batch, rows));
    pieces.push_back(std::move(batch));
  }
  return Concatenate(arrow::schema(fields), pieces);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Concatenate(
    std::shared_ptr<arrow::Schema> schema, const arrow::RecordBatchVector& batches) {
  if (batches.empty()) return arrow::RecordBatch::MakeEmpty(std::move(schema));
  if (batches.size() == 1) return batches[0];
  int64_t rows = 0;
  for (const auto& batch : batches) rows += batch->num_rows();
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (int i = 0; i < schema->num_fields(); ++i) {
    arrow::ArrayVector pieces;
    for (const auto& batch : batches) pieces.push_back(batch->column(i));
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Array> column, arrow::Concatenate(pieces));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(std::move(schema), rows, std::move(columns));
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenInput(const io::Location& file) {
  auto opened = file.file_system->OpenInputFile(file.path);
  if (opened.ok()) return opened;
  if (dynamic_cast<const base::ErrorDetail*>(opened.status().detail().get()) != nullptr) {
    return opened.status();
  }
  const bool missing = arrow::internal::ErrnoFromStatus(opened.status()) == ENOENT;
  return base::MakeError(
      missing ? base::ErrorCode::kNotFound : base::ErrorCode::kIo,
      base::Concat("can't open ", file.uri, ": ", base::MessageOf(opened.status())));
}

arrow::Status FileError(const arrow::Status& status, const std::string& uri,
                        base::ErrorCode bad_bytes) {
  if (status.ok() || dynamic_cast<const base::ErrorDetail*>(status.detail().get()) != nullptr) {
    return status;
  }
  base::ErrorCode code = base::CodeOf(status);
  const bool from_system = arrow::internal::ErrnoFromStatus(status) != 0;
  if ((code == base::ErrorCode::kIo && !from_system) || code == base::ErrorCode::kInvalid ||
      code == base::ErrorCode::kNotFound || code == base::ErrorCode::kInternal) {
    code = bad_bytes;
  }
  return base::MakeError(code, base::Concat("can't read ", uri, ": ", base::MessageOf(status)));
}

std::shared_ptr<arrow::RecordBatchReader> NameErrors(
    std::shared_ptr<arrow::RecordBatchReader> reader, std::shared_ptr<void> owner, std::string uri,
    base::ErrorCode bad_bytes) {
  return std::make_shared<NamingReader>(std::move(reader), std::move(owner), std::move(uri),
                                        bad_bytes);
}

}  // namespace kinjo::tabular
