#include "tabular/jsonl_file.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "arrow/json/options.h"
#include "arrow/json/reader.h"
#include "arrow/type.h"

namespace kinjo::tabular {

namespace {

constexpr int32_t kBlockBytes = 4 << 20;  // types are guessed from the first; no row may be longer

arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenReader(
    const io::Location& location, std::shared_ptr<arrow::io::InputStream> input,
    const arrow::json::ParseOptions& parse) {
  auto read = arrow::json::ReadOptions::Defaults();
  read.use_threads = false;
  read.block_size = kBlockBytes;
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
    return base::Invalid("a row of ", uri_, " has a key that no row in its first ", kBlockBytes,
                         " bytes has; select the columns that you need from: ", names);
  }

 private:
  std::shared_ptr<arrow::RecordBatchReader> reader_;
  std::string uri_;
};

class JsonlFile final : public TableFile {
 public:
  static arrow::Result<std::shared_ptr<TableFile>> Open(const io::Location& location) {
    auto file = std::make_shared<JsonlFile>();
    file->location_ = location;
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location));
    auto head = input->ReadAt(0, kBlockBytes);
    if (!head.ok()) return FileError(head.status(), location.uri, base::ErrorCode::kInvalid);
    const std::string_view text(**head);
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos && text.size() < static_cast<size_t>(kBlockBytes)) {
      file->is_empty_ = true;
      file->schema_ = arrow::schema({});
      return file;
    }
    if (begin != std::string_view::npos && text[begin] == '[') {
      return base::Invalid(location.uri, " holds a JSON array; write one object a line instead");
    }
    ARROW_RETURN_NOT_OK(input->Seek(0));
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(location, std::move(input), {}));
    file->schema_ = reader->schema();
    return file;
  }

  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override {
    return is_empty_ ? std::optional<int64_t>(0) : std::nullopt;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t) override {
    // Without any column the rows are still to be counted: read one for that.
    const arrow::FieldVector wanted =
        fields.empty() ? arrow::FieldVector{schema_->field(0)} : fields;
    arrow::json::ParseOptions parse = arrow::json::ParseOptions::Defaults();
    parse.explicit_schema = arrow::schema(wanted);
    parse.unexpected_field_behavior = wanted.size() == static_cast<size_t>(schema_->num_fields())
                                          ? arrow::json::UnexpectedFieldBehavior::Error
                                          : arrow::json::UnexpectedFieldBehavior::Ignore;
    ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(location_));
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(location_, std::move(input), parse));
    return std::make_shared<LateKeyReader>(std::move(reader), uri());
  }

 private:
  io::Location location_;
  std::shared_ptr<arrow::Schema> schema_;
  bool is_empty_ = false;
};

}  // namespace

arrow::Result<std::shared_ptr<TableFile>> OpenJsonlFile(const io::Location& file) {
  return JsonlFile::Open(file);
}

}  // namespace kinjo::tabular
