#include "tabular/jsonl_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "arrow/json/options.h"
#include "arrow/json/reader.h"
#include "arrow/type.h"
#include "tabular/text_file.h"

namespace kinjo::tabular {

namespace {

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenReader(
    const io::Location& location, std::shared_ptr<arrow::io::InputStream> input,
    const arrow::json::ParseOptions& parse) {
  auto read = arrow::json::ReadOptions::Defaults();
  read.use_threads = false;
  read.block_size = kTextBlockBytes;
  auto reader = arrow::json::StreamingReader::Make(std::move(input), read, parse);
  if (!reader.ok()) return FileError(reader.status(), location.uri, base::ErrorCode::kInvalid);
  return std::shared_ptr<arrow::RecordBatchReader>(std::move(*reader));
}

// Says more than Arrow's "unexpected field", which doesn't tell which.
class LateKeyReader final : public arrow::RecordBatchReader {
 public:
  LateKeyReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::string uri)
      : reader_(std::move(reader)), uri_(std::move(uri)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    const arrow::Status status = reader_->ReadNext(batch);
    if (status.message().find("unexpected field") == std::string::npos) {
      return FileError(status, uri_, base::ErrorCode::kInvalid);
    }
    std::string names;
    for (const std::string& name : schema()->field_names()) {
      names += (names.empty() ? "" : ", ") + name;
    }
    return base::Invalid("a row of ", uri_, " has a key that no row in its first ", kTextBlockBytes,
                         " bytes has; select the columns that you need from: ", names);
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::string uri_;
};

class JsonlFile final : public TextFile {
 public:
  explicit JsonlFile(io::Location location) : TextFile(std::move(location)) {}

  static arrow::Result<std::shared_ptr<TableFile>> Open(const io::Location& location) {
    auto file = std::make_shared<JsonlFile>(location);
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location));
    auto head = input->ReadAt(0, kTextBlockBytes);
    if (!head.ok()) return FileError(head.status(), location.uri, base::ErrorCode::kInvalid);
    const std::string_view text(**head);
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos && text.size() < static_cast<size_t>(kTextBlockBytes)) {
      file->SetEmpty();
      return file;
    }
    if (begin != std::string_view::npos && text[begin] == '[') {
      return base::Invalid(location.uri, " holds a JSON array; write one object a line instead");
    }
    ARROW_RETURN_NOT_OK(input->Seek(0));
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(location, std::move(input), {}));
    file->SetSchema(reader->schema());
    return file;
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadFields(
      const arrow::FieldVector& wanted) override {
    arrow::json::ParseOptions parse = arrow::json::ParseOptions::Defaults();
    parse.explicit_schema = arrow::schema(wanted);
    parse.unexpected_field_behavior = wanted.size() == static_cast<size_t>(schema()->num_fields())
                                          ? arrow::json::UnexpectedFieldBehavior::Error
                                          : arrow::json::UnexpectedFieldBehavior::Ignore;
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location()));
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(location(), std::move(input), parse));
    return std::make_shared<LateKeyReader>(std::move(reader), uri());
  }
};

}  // namespace

arrow::Result<std::shared_ptr<TableFile>> OpenJsonlFile(const io::Location& file) {
  return JsonlFile::Open(file);
}

}  // namespace kinjo::tabular
