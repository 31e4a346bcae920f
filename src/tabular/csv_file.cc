#include "tabular/csv_file.h"

#include <set>
#include <utility>
#include <vector>

#include "arrow/csv/options.h"
#include "arrow/csv/reader.h"
#include "arrow/type.h"
#include "tabular/text_file.h"
#include "tabular/vector_text.h"

namespace kinjo::tabular {

namespace {

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenReader(
    const io::Location& location, std::shared_ptr<arrow::io::InputStream> input,
    const arrow::FieldVector& fields, const std::set<std::string>& vectors) {
  auto read = arrow::csv::ReadOptions::Defaults();
  read.use_threads = false;
  read.block_size = kTextBlockBytes;
  auto parse = arrow::csv::ParseOptions::Defaults();
  parse.newlines_in_values = true;
  auto convert = arrow::csv::ConvertOptions::Defaults();
  convert.null_values = {""};
  convert.strings_can_be_null = true;
  convert.quoted_strings_can_be_null = false;
  for (const auto& field : fields) {
    convert.include_columns.push_back(field->name());
    convert.column_types[field->name()] =
        vectors.count(field->name()) > 0 ? arrow::utf8() : field->type();
  }
  auto reader = arrow::csv::StreamingReader::Make(arrow::io::default_io_context(), std::move(input),
                                                  read, parse, convert);
  if (!reader.ok()) return FileError(reader.status(), location.uri, base::ErrorCode::kInvalid);
  return std::shared_ptr<arrow::RecordBatchReader>(std::move(*reader));
}

// Turns the vector columns of each batch from text into lists, and counts rows for the messages.
class VectorsReader final : public arrow::RecordBatchReader {
 public:
  VectorsReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::set<std::string> vectors,
                std::string uri)
      : reader_(std::move(reader)), vectors_(std::move(vectors)), uri_(std::move(uri)) {
    arrow::FieldVector fields;
    for (const auto& field : reader_->schema()->fields()) {
      const bool is_vector = vectors_.count(field->name()) > 0;
      fields.push_back(is_vector ? field->WithType(arrow::list(arrow::float32())) : field);
    }
    schema_ = arrow::schema(std::move(fields));
  }

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    std::shared_ptr<arrow::RecordBatch> text;
    ARROW_RETURN_NOT_OK(FileError(reader_->ReadNext(&text), uri_, base::ErrorCode::kInvalid));
    *batch = nullptr;
    if (text == nullptr) return arrow::Status::OK();
    std::vector<std::shared_ptr<arrow::Array>> columns = text->columns();
    for (int i = 0; i < schema_->num_fields(); ++i) {
      const std::string& name = schema_->field(i)->name();
      if (vectors_.count(name) == 0) continue;
      const auto& cells = static_cast<const arrow::StringArray&>(*columns[static_cast<size_t>(i)]);
      ARROW_ASSIGN_OR_RAISE(columns[static_cast<size_t>(i)],
                            ParseVectors(cells, name, uri_, first_row_));
    }
    first_row_ += text->num_rows();
    *batch = arrow::RecordBatch::Make(schema_, text->num_rows(), std::move(columns));
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::set<std::string> vectors_;
  std::string uri_;
  std::shared_ptr<arrow::Schema> schema_;
  int64_t first_row_ = 1;
};

class CsvFile final : public TextFile {
 public:
  explicit CsvFile(io::Location location) : TextFile(std::move(location)) {}

  static arrow::Result<std::shared_ptr<TableFile>> Open(const io::Location& location) {
    auto file = std::make_shared<CsvFile>(location);
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location));
    auto size = input->GetSize();
    if (!size.ok()) return FileError(size.status(), location.uri, base::ErrorCode::kInvalid);
    if (*size == 0) {
      file->SetEmpty();
      return file;
    }
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(location, std::move(input), {}, {}));
    std::shared_ptr<arrow::RecordBatch> first;
    ARROW_RETURN_NOT_OK(
        FileError(reader->ReadNext(&first), location.uri, base::ErrorCode::kInvalid));
    arrow::FieldVector fields = reader->schema()->fields();
    for (size_t i = 0; first != nullptr && i < fields.size(); ++i) {
      if (fields[i]->type()->id() != arrow::Type::STRING) continue;
      const auto& cells =
          static_cast<const arrow::StringArray&>(*first->column(static_cast<int>(i)));
      if (!HoldsVectors(cells)) continue;
      fields[i] = fields[i]->WithType(arrow::list(arrow::float32()));
    }
    file->SetSchema(arrow::schema(std::move(fields)));
    return file;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadFields(
      const arrow::FieldVector& wanted) override {
    std::set<std::string> vectors;
    for (const auto& field : wanted) {
      if (field->type()->id() == arrow::Type::LIST) vectors.insert(field->name());
    }
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location()));
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(location(), std::move(input), wanted, vectors));
    return std::make_shared<VectorsReader>(std::move(reader), std::move(vectors), uri());
  }
};

}  // namespace

arrow::Result<std::shared_ptr<TableFile>> OpenCsvFile(const io::Location& file) {
  return CsvFile::Open(file);
}

}  // namespace kinjo::tabular
