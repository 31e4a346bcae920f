// Opens the file and the writer that a name and the options ask for, and sees to it that a failure
// anywhere leaves nothing behind.
#include "tabular/table_sink.h"

#include <functional>
#include <utility>

#include "arrow/type.h"
#include "tabular/file_list.h"
#include "tabular/format_writer.h"
#include "tabular/lance_sink.h"
#include "tabular/output_file.h"

namespace kinjo::tabular {

namespace {

class FileSink final : public TableSink {
 public:
  FileSink(std::unique_ptr<OutputFile> file, std::unique_ptr<FormatWriter> writer,
           std::shared_ptr<arrow::Schema> schema)
      : file_(std::move(file)), writer_(std::move(writer)), schema_(std::move(schema)) {}

  ~FileSink() override { Abort(); }

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    if (writer_ == nullptr) return Over();
    if (!batch.schema()->Equals(*schema_, /*check_metadata=*/false)) {
      return base::Internal("a batch for ", file_->path(), " has other columns than its schema");
    }
    return Settle(writer_->Write(batch), batch.num_rows());
  }

  arrow::Status Finish() override {
    if (writer_ == nullptr) return Over();
    ARROW_RETURN_NOT_OK(Settle(writer_->Finish(), 0));
    writer_ = nullptr;
    return file_->Commit();
  }

  void Abort() override {
    writer_ = nullptr;
    file_->Discard();
  }

  int64_t rows_written() const override { return rows_; }

 private:
  // After the first failure the sink is over, and nothing is left of the file.
  arrow::Status Settle(const arrow::Status& status, int64_t rows) {
    if (status.ok()) {
      rows_ += rows;
      return status;
    }
    arrow::Status explained = file_->Explain(status);
    Abort();
    return explained;
  }

  arrow::Status Over() const {
    return base::MakeError(
        base::ErrorCode::kState,
        base::Concat("writing ", file_->path(), " was finished, aborted or failed before"));
  }

  std::unique_ptr<OutputFile> file_;      // outlives the writer, which writes to its stream
  std::unique_ptr<FormatWriter> writer_;  // null once over
  std::shared_ptr<arrow::Schema> schema_;
  int64_t rows_ = 0;
};

// One format that can be written.
struct SinkFormat {
  std::string_view name;
  arrow::Status (*check)(const SinkOptions&);
  MakeFormatWriter* make_for_file;             // null when it isn't a file
  MakeFormatWriter* make_for_standard_output;  // null when it can't go there
};

constexpr SinkFormat kFormats[] = {
    {"parquet", CheckParquetOptions, MakeParquetWriter, nullptr},
    {"arrow", CheckArrowOptions, MakeArrowFileWriter, MakeArrowStreamWriter},
    {"csv", CheckTextOptions, MakeCsvWriter, MakeCsvWriter},
    {"jsonl", CheckTextOptions, MakeJsonlWriter, MakeJsonlWriter},
    {"table", CheckTextOptions, MakeTerminalTable, MakeTerminalTable},
    {"lance", CheckLanceOptions, nullptr, nullptr},
};

arrow::Result<const SinkFormat*> ChooseFormat(const std::string& path, const SinkOptions& options) {
  constexpr std::string_view kNames = "parquet, arrow, csv, jsonl, lance or table";
  std::string name = options.format;
  if (name.empty()) name = path == "-" ? "table" : FormatOfName(path);
  if (name.empty()) {
    return base::Invalid("can't tell the format of ", path, " from its name; format must be ",
                         kNames);
  }
  for (const SinkFormat& format : kFormats) {
    if (format.name != name) continue;
    if (path == "-" && format.make_for_standard_output == nullptr) {
      return base::Invalid("format = ", name, " can't go to standard output; name a ",
                           format.make_for_file == nullptr ? "folder" : "file");
    }
    ARROW_RETURN_NOT_OK(format.check(options));
    return &format;
  }
  if (name == "npy" || name == "fvecs" || name == "bvecs" || name == "ivecs") {
    return base::NotSupported("rows can't be written as ", name, "; use ", kNames);
  }
  return base::Invalid("format is \"", name, "\"; it must be ", kNames);
}

}  // namespace

arrow::Status CheckSink(const std::string& path, const SinkOptions& options) {
  return ChooseFormat(path, options).status();
}

arrow::Status CheckSinkPlace(const std::string& path, const SinkOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const SinkFormat* format, ChooseFormat(path, options));
  if (format->make_for_file == nullptr) return CheckLancePlace(path, options);
  return OutputFile::CheckPlace(path, options.overwrite);
}

arrow::Result<std::unique_ptr<TableSink>> OpenSink(const std::string& path,
                                                   std::shared_ptr<arrow::Schema> schema,
                                                   const SinkOptions& options) {
  ARROW_ASSIGN_OR_RAISE(const SinkFormat* format, ChooseFormat(path, options));
  if (format->make_for_file == nullptr) return OpenLanceSink(path, *schema, options);
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<OutputFile> file,
                        OutputFile::Open(path, options.overwrite));
  MakeFormatWriter* make = path == "-" ? format->make_for_standard_output : format->make_for_file;
  auto writer = make(file->stream(), schema, options);
  if (!writer.ok()) return file->Explain(writer.status());
  return std::make_unique<FileSink>(std::move(file), std::move(*writer), std::move(schema));
}

}  // namespace kinjo::tabular
