#include "tabular/arrow_file.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "arrow/filesystem/localfs.h"
#include "arrow/io/file.h"
#include "arrow/ipc/options.h"
#include "arrow/ipc/reader.h"
#include "arrow/memory_pool.h"

namespace kinjo::tabular {

namespace {

constexpr std::string_view kFileMagic = "ARROW1";
constexpr std::string_view kFeatherV1Magic = "FEA1";
constexpr int64_t kCopyBytes = 1 << 16;  // less than this for a batch is bookkeeping, not a copy

arrow::Status Name(const arrow::Status& status, const std::string& uri) {
  return FileError(status, uri, base::ErrorCode::kCorrupt);
}

// `schema` is null while it isn't known yet; no fields mean all of them.
arrow::ipc::IpcReadOptions ReadOptions(const std::shared_ptr<arrow::Schema>& schema,
                                       const arrow::FieldVector& fields) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  for (const auto& field : fields) {
    options.included_fields.push_back(schema->GetFieldIndex(field->name()));
  }
  std::sort(options.included_fields.begin(), options.included_fields.end());
  return options;
}

arrow::Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenMapped(const io::Location& file) {
  if (file.file_system->type_name() != "local") return OpenInput(file);
  auto mapped = arrow::io::MemoryMappedFile::Open(file.path, arrow::io::FileMode::READ);
  if (mapped.ok()) return std::shared_ptr<arrow::io::RandomAccessFile>(std::move(*mapped));
  return OpenInput(file);  // an empty file, a pipe: and the better message
}

// Arrow's reader checks how the buffers lie in the file, not what offsets say that are in them.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Checked(
    arrow::Result<std::shared_ptr<arrow::RecordBatch>> batch, const std::string& uri) {
  if (!batch.ok()) return Name(batch.status(), uri);
  if (*batch != nullptr) ARROW_RETURN_NOT_OK(Name((*batch)->ValidateFull(), uri));
  return batch;
}

class BatchesReader final : public arrow::RecordBatchReader {
 public:
  BatchesReader(std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader,
                std::shared_ptr<arrow::Schema> schema, std::string uri)
      : reader_(std::move(reader)), schema_(std::move(schema)), uri_(std::move(uri)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    *batch = nullptr;
    if (next_ == reader_->num_record_batches()) return arrow::Status::OK();
    return Checked(reader_->ReadRecordBatch(next_++), uri_).Value(batch);
  }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader_;
  std::shared_ptr<arrow::Schema> schema_;
  std::string uri_;
  int next_ = 0;
};

class IpcFile final : public TableFile {
 public:
  static arrow::Result<std::shared_ptr<TableFile>> Open(const io::Location& location) {
    auto file = std::make_shared<IpcFile>();
    file->location_ = location;
    ARROW_ASSIGN_OR_RAISE(auto reader, file->OpenReader({}));
    file->schema_ = reader->schema();
    auto rows = reader->CountRows();
    if (!rows.ok()) return Name(rows.status(), location.uri);
    file->num_rows_ = *rows;
    ARROW_ASSIGN_OR_RAISE(file->is_zero_copy_, file->IsZeroCopy());
    return file;
  }

  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return num_rows_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t) override {
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(fields));
    return std::make_shared<BatchesReader>(std::move(reader), schema_, uri());
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const arrow::FieldVector& fields, std::span<const uint64_t> ordinals) override {
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(fields));
    arrow::RecordBatchVector pieces;
    size_t next = 0;
    for (size_t i = 0; next < ordinals.size(); ++i) {
      if (i == static_cast<size_t>(reader->num_record_batches())) {
        return base::Invalid("row ", ordinals[next], " of ", uri(), " was asked for, but it has ",
                             num_rows_, " rows");
      }
      const bool known = i + 1 < first_rows_.size();
      if (known && ordinals[next] >= first_rows_[i + 1]) continue;
      auto read = reader->ReadRecordBatch(static_cast<int>(i));
      if (!read.ok()) return Name(read.status(), uri());
      const uint64_t end = first_rows_[i] + static_cast<uint64_t>((*read)->num_rows());
      if (!known) first_rows_.push_back(end);
      const size_t first = next;
      while (next < ordinals.size() && ordinals[next] < end) ++next;
      if (next == first) continue;
      ARROW_ASSIGN_OR_RAISE(auto batch, Checked(std::move(read), uri()));
      ARROW_ASSIGN_OR_RAISE(auto one, arrow::RecordBatchReader::Make({batch}, batch->schema()));
      ARROW_ASSIGN_OR_RAISE(
          auto piece,
          TakeFromStream(one.get(), fields, ordinals.subspan(first, next - first), first_rows_[i]));
      pieces.push_back(std::move(piece));
    }
    return Concatenate(arrow::schema(fields), pieces);
  }

 private:
  // Naming fields makes Arrow copy what it reads, which spares the decompression of the other
  // columns, but costs memory where a mapped batch needs none.
  arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenReader(
      const arrow::FieldVector& fields) const {
    return OpenWith(ReadOptions(schema_, is_zero_copy_ ? arrow::FieldVector{} : fields));
  }

  arrow::Result<std::shared_ptr<arrow::ipc::RecordBatchFileReader>> OpenWith(
      const arrow::ipc::IpcReadOptions& options) const {
    ARROW_ASSIGN_OR_RAISE(const auto input, OpenMapped(location_));
    auto reader = arrow::ipc::RecordBatchFileReader::Open(input, options);
    if (!reader.ok()) return Name(reader.status(), uri());
    return reader;
  }

  // Whether batches lie in the mapped file as they are in memory: reading one takes no memory then.
  arrow::Result<bool> IsZeroCopy() const {
    if (location_.file_system->type_name() != "local") return false;
    arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
    arrow::ipc::IpcReadOptions options = ReadOptions(schema_, {});
    options.memory_pool = &pool;
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenWith(options));
    if (reader->num_record_batches() == 0) return false;
    const auto batch = reader->ReadRecordBatch(0);
    if (!batch.ok()) return Name(batch.status(), uri());
    return pool.bytes_allocated() < kCopyBytes;
  }

  io::Location location_;
  std::shared_ptr<arrow::Schema> schema_;
  int64_t num_rows_ = 0;
  bool is_zero_copy_ = false;
  // Where batches begin, as far as Take got to know it: only reading a batch tells its rows.
  std::vector<uint64_t> first_rows_ = {0};
};

// The stream format: no footer, so rows are only found by reading from the start.
class IpcStream final : public TableFile {
 public:
  static arrow::Result<std::shared_ptr<TableFile>> Open(const io::Location& location) {
    auto file = std::make_shared<IpcStream>();
    file->location_ = location;
    ARROW_ASSIGN_OR_RAISE(auto reader, file->OpenReader({}));
    file->schema_ = reader->schema();
    return file;
  }

  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override { return std::nullopt; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t) override {
    ARROW_ASSIGN_OR_RAISE(auto reader, OpenReader(fields));
    return std::make_shared<CheckedReader>(std::move(reader), uri());
  }

 private:
  class CheckedReader final : public arrow::RecordBatchReader {
   public:
    CheckedReader(std::shared_ptr<arrow::RecordBatchReader> reader, std::string uri)
        : reader_(std::move(reader)), uri_(std::move(uri)) {}
    std::shared_ptr<arrow::Schema> schema() const override { return reader_->schema(); }
    arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
      return Checked(reader_->Next(), uri_).Value(batch);
    }

   private:
    std::shared_ptr<arrow::RecordBatchReader> reader_;
    std::string uri_;
  };

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> OpenReader(
      const arrow::FieldVector& fields) const {
    ARROW_ASSIGN_OR_RAISE(auto input, OpenMapped(location_));
    auto reader = arrow::ipc::RecordBatchStreamReader::Open(
        std::shared_ptr<arrow::io::InputStream>(std::move(input)), ReadOptions(schema_, fields));
    if (!reader.ok()) return Name(reader.status(), uri());
    return std::shared_ptr<arrow::RecordBatchReader>(std::move(*reader));
  }

  io::Location location_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

arrow::Result<std::shared_ptr<TableFile>> OpenArrowFile(const io::Location& file) {
  ARROW_ASSIGN_OR_RAISE(auto input, OpenInput(file));
  auto begin = input->Read(static_cast<int64_t>(kFileMagic.size()));
  if (!begin.ok()) return Name(begin.status(), file.uri);
  const std::string_view bytes(**begin);
  if (bytes.starts_with(kFeatherV1Magic)) {
    return base::NotSupported(file.uri, " is a Feather V1 file; write it again as Feather V2");
  }
  if (bytes == kFileMagic) return IpcFile::Open(file);
  return IpcStream::Open(file);
}

}  // namespace kinjo::tabular
