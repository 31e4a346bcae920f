#include "format/file/file_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "arrow/util/byte_size.h"
#include "format/file/adapted_array.h"
#include "format/file/container.h"
#include "format/file/field_writer.h"
#include "format/file/field_writer_v20.h"
#include "format/file/writable_schema.h"
#include "format/proto/write_file_messages.h"

namespace kinjo::format {

namespace {

// Page buffers and global buffers begin at multiples of this; Lance refuses others.
constexpr uint64_t kAlignment = 64;
constexpr char kFiller = 'H';

bool IsKnown(FileVersion version) { return version.major == 2 && version.minor <= 2; }

// Rows that are added at a time, so that a page ends near its size: about an eighth of a page.
int64_t PieceRows(const arrow::ArrayData& array, uint64_t page_bytes) {
  auto bytes = static_cast<uint64_t>(
      std::max<int64_t>(1, arrow::util::ReferencedBufferSize(array).ValueOr(array.length)));
  const auto rows = static_cast<uint64_t>(std::max<int64_t>(1, array.length));
  if (array.type->id() == arrow::Type::DICTIONARY) {
    // Items are written once for each row that points at them, at first.
    const auto items = static_cast<uint64_t>(std::max<int64_t>(1, array.dictionary->length));
    bytes += rows * (bytes / items);
  }
  const uint64_t row_bytes = std::max<uint64_t>(1, bytes / rows);
  return static_cast<int64_t>(std::clamp<uint64_t>(page_bytes / 8 / row_bytes, 1, 1 << 20));
}

class OpenFileWriter final : public FileWriter, private file::PageSink {
 public:
  OpenFileWriter(std::shared_ptr<arrow::io::OutputStream> out, Schema schema,
                 FileWriteOptions options)
      : out_(std::move(out)), schema_(std::move(schema)), options_(std::move(options)) {
    context_.path = options_.path;
    context_.version = options_.version;
    context_.page_bytes = std::max<uint64_t>(1, options_.page_bytes);
    context_.columns = file::NumberColumns(schema_, options_.version);
  }

  arrow::Status Init();
  arrow::Status Write(const arrow::RecordBatch& batch) override {
    return Watched([&] { return WriteBatch(batch); });
  }
  arrow::Result<uint32_t> AddGlobalBuffer(const arrow::Buffer& buffer) override {
    ARROW_RETURN_NOT_OK(Watched([&] {
      return WriteAligned(buffer.data(), static_cast<uint64_t>(buffer.size()), &global_buffers_);
    }));
    return static_cast<uint32_t>(global_buffers_.size());
  }
  arrow::Status SetMetadata(const std::string& key, const std::string& value) override {
    ARROW_RETURN_NOT_OK(CheckUsable());
    schema_.metadata[key] = value;
    return arrow::Status::OK();
  }
  uint64_t pending_bytes() const override {
    uint64_t bytes = 0;
    for (const auto& field : fields_) bytes += field->pending_bytes();
    return bytes;
  }
  arrow::Result<WrittenFile> Finish() override;

 private:
  arrow::Status CheckUsable() const;
  // Runs a step; a failed one ends the use of the writer.
  template <typename Step>
  arrow::Status Watched(Step step) {
    ARROW_RETURN_NOT_OK(CheckUsable());
    arrow::Status status = step();
    usable_ = status.ok();
    return status;
  }
  arrow::Status WriteBatch(const arrow::RecordBatch& batch);
  arrow::Status AddPage(uint32_t column, const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                        proto::Encoding encoding, uint64_t num_rows, uint64_t first_row) override;
  arrow::Status WriteEnd();
  arrow::Status WriteAligned(const uint8_t* bytes, uint64_t size, std::vector<io::ByteRange>* to);
  arrow::Status WriteBytes(const void* bytes, uint64_t size);
  arrow::Status WriteTable(const std::vector<io::ByteRange>& table);

  const std::shared_ptr<arrow::io::OutputStream> out_;
  Schema schema_;
  const FileWriteOptions options_;
  file::FieldWriteContext context_;
  std::vector<std::unique_ptr<file::FieldWriter>> fields_;
  std::vector<proto::ColumnMetadata> columns_;
  std::vector<io::ByteRange> global_buffers_;  // without the descriptor
  uint64_t position_ = 0;
  uint64_t num_rows_ = 0;
  bool usable_ = true;
};

arrow::Status OpenFileWriter::CheckUsable() const {
  if (usable_) return arrow::Status::OK();
  return base::MakeError(base::ErrorCode::kState,
                         "writing a data file: it is finished, or an earlier step failed",
                         options_.path);
}

arrow::Status OpenFileWriter::Init() {
  columns_.resize(context_.columns.size());
  // What every column says of itself: a message whose only field, values, is empty.
  const std::string values("\x0A\x00", 2);
  for (proto::ColumnMetadata& column : columns_) {
    column.encoding = {.kind = proto::Encoding::Kind::kDirect,
                       .type_url = "/lance.encodings.ColumnEncoding",
                       .value = values};
  }
  for (const Field& field : schema_.fields) {
    ARROW_ASSIGN_OR_RAISE(auto writer, options_.version.minor == 0
                                           ? file::MakeFieldWriterV20(field, context_)
                                           : file::MakeFieldWriter(field, context_));
    fields_.push_back(std::move(writer));
  }
  return arrow::Status::OK();
}

arrow::Status OpenFileWriter::WriteBatch(const arrow::RecordBatch& batch) {
  if (batch.num_columns() != static_cast<int>(fields_.size())) {
    return base::MakeError(base::ErrorCode::kInvalid,
                           base::Concat("writing a batch of ", batch.num_columns(),
                                        " columns to a file of ", fields_.size()),
                           options_.path);
  }
  for (size_t i = 0; i < fields_.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(
        const auto array,
        file::AdaptArray(schema_.fields[i], batch.column_data(static_cast<int>(i)), options_.path));
    const int64_t step = PieceRows(*array, context_.page_bytes);
    for (int64_t begin = 0; begin < array->length; begin += step) {
      const int64_t count = std::min(step, array->length - begin);
      ARROW_RETURN_NOT_OK(fields_[i]->Add(*array, begin, count, this));
    }
  }
  num_rows_ += static_cast<uint64_t>(batch.num_rows());
  return arrow::Status::OK();
}

arrow::Status OpenFileWriter::WriteBytes(const void* bytes, uint64_t size) {
  const arrow::Status status = out_->Write(bytes, static_cast<int64_t>(size));
  if (!status.ok()) {
    return status.WithMessage("writing ", size, " bytes at ", position_, " of data file ",
                              options_.path, ": ", base::MessageOf(status));
  }
  position_ += size;
  return arrow::Status::OK();
}

arrow::Status OpenFileWriter::WriteAligned(const uint8_t* bytes, uint64_t size,
                                           std::vector<io::ByteRange>* to) {
  const uint64_t gap = (kAlignment - position_ % kAlignment) % kAlignment;
  const std::string filler(gap, kFiller);
  ARROW_RETURN_NOT_OK(WriteBytes(filler.data(), gap));
  to->push_back({position_, size});
  return WriteBytes(bytes, size);
}

arrow::Status OpenFileWriter::AddPage(uint32_t column,
                                      const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                                      proto::Encoding encoding, uint64_t num_rows,
                                      uint64_t first_row) {
  std::vector<io::ByteRange> ranges;
  for (const auto& buffer : buffers) {
    ARROW_RETURN_NOT_OK(
        WriteAligned(buffer->data(), static_cast<uint64_t>(buffer->size()), &ranges));
  }
  proto::Page page;
  for (const io::ByteRange& range : ranges) {
    page.buffer_offsets.push_back(range.offset);
    page.buffer_sizes.push_back(range.length);
  }
  page.length = num_rows;
  page.priority = first_row;
  page.encoding = std::move(encoding);
  columns_[column].pages.push_back(std::move(page));
  return arrow::Status::OK();
}

arrow::Status OpenFileWriter::WriteTable(const std::vector<io::ByteRange>& table) {
  std::vector<uint64_t> numbers;
  for (const io::ByteRange& range : table) {
    numbers.push_back(range.offset);
    numbers.push_back(range.length);
  }
  return WriteBytes(numbers.data(), numbers.size() * sizeof(uint64_t));
}

arrow::Status OpenFileWriter::WriteEnd() {
  for (const auto& field : fields_) ARROW_RETURN_NOT_OK(field->Flush(this));
  proto::FileDescriptor descriptor;
  descriptor.fields = schema_.fields;
  descriptor.metadata = schema_.metadata;
  descriptor.num_rows = num_rows_;
  const std::string message = proto::Write(descriptor);
  std::vector<io::ByteRange> global_table;
  ARROW_RETURN_NOT_OK(WriteAligned(reinterpret_cast<const uint8_t*>(message.data()), message.size(),
                                   &global_table));
  global_table.insert(global_table.end(), global_buffers_.begin(), global_buffers_.end());
  const uint64_t first_column = position_;
  std::vector<io::ByteRange> column_table;
  for (const proto::ColumnMetadata& column : columns_) {
    const std::string metadata = proto::Write(column);
    column_table.push_back({position_, metadata.size()});
    ARROW_RETURN_NOT_OK(WriteBytes(metadata.data(), metadata.size()));
  }
  const uint64_t column_table_at = position_;
  ARROW_RETURN_NOT_OK(WriteTable(column_table));
  const uint64_t global_table_at = position_;
  ARROW_RETURN_NOT_OK(WriteTable(global_table));
  file::Footer footer;
  footer.first_column = first_column;
  footer.column_table = column_table_at;
  footer.global_table = global_table_at;
  footer.num_global_buffers = static_cast<uint32_t>(global_table.size());
  footer.num_columns = static_cast<uint32_t>(columns_.size());
  footer.version = options_.version;
  const std::vector<uint8_t> bytes = file::WriteFooter(footer);
  return WriteBytes(bytes.data(), bytes.size());
}

arrow::Result<WrittenFile> OpenFileWriter::Finish() {
  ARROW_RETURN_NOT_OK(Watched([&] { return WriteEnd(); }));
  usable_ = false;
  return WrittenFile{.num_rows = num_rows_,
                     .size_bytes = position_,
                     .columns = context_.columns,
                     .version = options_.version};
}

}  // namespace

arrow::Result<std::unique_ptr<FileWriter>> FileWriter::Make(
    std::shared_ptr<arrow::io::OutputStream> out, const Schema& schema,
    const FileWriteOptions& options) {
  if (!IsKnown(options.version)) {
    return base::NotSupported("writing a data file of version ", options.version.major, ".",
                              options.version.minor, ": 2.0, 2.1 and 2.2 are written");
  }
  ARROW_RETURN_NOT_OK(file::CheckWritable(schema, options.version));
  auto writer = std::make_unique<OpenFileWriter>(std::move(out), schema, options);
  ARROW_RETURN_NOT_OK(writer->Init());
  return writer;
}

}  // namespace kinjo::format
