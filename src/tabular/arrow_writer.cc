// Rows in Arrow's own format: a file, or on standard output the stream format, which a reader can
// take from a pipe.
#include <utility>
#include <vector>

#include "arrow/array/array_dict.h"
#include "arrow/compute/api_vector.h"
#include "arrow/ipc/options.h"
#include "arrow/ipc/writer.h"
#include "arrow/util/compression.h"
#include "tabular/format_writer.h"

namespace kinjo::tabular {

namespace {

arrow::Result<arrow::Compression::type> FindCompression(const std::string& name) {
  if (name.empty() || name == "none") return arrow::Compression::UNCOMPRESSED;
  if (name == "zstd") return arrow::Compression::ZSTD;
  if (name == "lz4") return arrow::Compression::LZ4_FRAME;
  return base::Invalid("compression is \"", name, "\"; Arrow files have none, zstd and lz4");
}

// A dictionary column as plain values: its dictionary may change from batch to batch, and a file
// can't hold that.
std::shared_ptr<arrow::Schema> WithoutDictionaries(const arrow::Schema& schema) {
  arrow::FieldVector fields = schema.fields();
  for (std::shared_ptr<arrow::Field>& field : fields) {
    if (field->type()->id() != arrow::Type::DICTIONARY) continue;
    const auto& coded = static_cast<const arrow::DictionaryType&>(*field->type());
    field = field->WithType(coded.value_type());
  }
  return arrow::schema(std::move(fields), schema.metadata());
}

class ArrowWriter final : public FormatWriter {
 public:
  ArrowWriter(std::shared_ptr<arrow::ipc::RecordBatchWriter> writer,
              std::shared_ptr<arrow::Schema> schema)
      : writer_(std::move(writer)), schema_(std::move(schema)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    std::vector<std::shared_ptr<arrow::Array>> columns = batch.columns();
    for (std::shared_ptr<arrow::Array>& column : columns) {
      if (column->type_id() != arrow::Type::DICTIONARY) continue;
      const auto& coded = static_cast<const arrow::DictionaryArray&>(*column);
      ARROW_ASSIGN_OR_RAISE(column, arrow::compute::Take(*coded.dictionary(), *coded.indices()));
    }
    return writer_->WriteRecordBatch(
        *arrow::RecordBatch::Make(schema_, batch.num_rows(), std::move(columns)));
  }
  arrow::Status Finish() override { return writer_->Close(); }

 private:
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer_;
  std::shared_ptr<arrow::Schema> schema_;
};

arrow::Result<std::unique_ptr<FormatWriter>> Make(arrow::io::OutputStream* out,
                                                  const arrow::Schema& schema,
                                                  const SinkOptions& options, bool as_stream) {
  auto ipc = arrow::ipc::IpcWriteOptions::Defaults();
  ipc.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(const auto compression, FindCompression(options.compression));
  if (compression != arrow::Compression::UNCOMPRESSED) {
    ARROW_ASSIGN_OR_RAISE(ipc.codec, arrow::util::Codec::Create(compression));
  }
  auto plain = WithoutDictionaries(schema);
  ARROW_ASSIGN_OR_RAISE(auto writer, as_stream ? arrow::ipc::MakeStreamWriter(out, plain, ipc)
                                               : arrow::ipc::MakeFileWriter(out, plain, ipc));
  return std::make_unique<ArrowWriter>(std::move(writer), std::move(plain));
}

}  // namespace

arrow::Status CheckArrowOptions(const SinkOptions& options) {
  return FindCompression(options.compression).status();
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeArrowFileWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options) {
  return Make(out, *schema, options, /*as_stream=*/false);
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeArrowStreamWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options) {
  return Make(out, *schema, options, /*as_stream=*/true);
}

}  // namespace kinjo::tabular
