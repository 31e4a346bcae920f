// Rows as a Parquet file, with the Arrow schema inside so that vectors come back as fixed-size
// lists.
#include <algorithm>
#include <array>
#include <utility>

#include "arrow/util/byte_size.h"
#include "arrow/util/compression.h"
#include "parquet/arrow/schema.h"
#include "parquet/arrow/writer.h"
#include "parquet/properties.h"
#include "tabular/format_writer.h"

namespace kinjo::tabular {

namespace {

struct Compression {
  std::string_view name;
  arrow::Compression::type type;
};
constexpr std::array<Compression, 7> kCompressions = {{{"", arrow::Compression::ZSTD},
                                                       {"none", arrow::Compression::UNCOMPRESSED},
                                                       {"snappy", arrow::Compression::SNAPPY},
                                                       {"zstd", arrow::Compression::ZSTD},
                                                       {"lz4", arrow::Compression::LZ4},
                                                       {"gzip", arrow::Compression::GZIP},
                                                       {"brotli", arrow::Compression::BROTLI}}};

const Compression* FindCompression(const std::string& name) {
  for (const Compression& compression : kCompressions) {
    if (compression.name == name) return &compression;
  }
  return nullptr;
}

// Numbers of vectors hardly ever repeat: a dictionary of them costs time and is thrown away.
void DisableDictionaries(const parquet::SchemaDescriptor& schema,
                         parquet::WriterProperties::Builder* builder) {
  for (int i = 0; i < schema.num_columns(); ++i) {
    const parquet::Type::type type = schema.Column(i)->physical_type();
    if (type == parquet::Type::FLOAT || type == parquet::Type::DOUBLE) {
      builder->disable_dictionary(schema.Column(i)->path());
    }
  }
}

// A row group is held in memory until it is full: rows of wide vectors fill it by their bytes.
constexpr int64_t kMaxRowGroupBytes = 64 << 20;

class ParquetWriter final : public FormatWriter {
 public:
  ParquetWriter(std::unique_ptr<parquet::arrow::FileWriter> writer, const SinkOptions& options)
      : writer_(std::move(writer)),
        row_group_rows_(options.row_group_rows),
        row_group_bytes_(std::min(options.held_bytes / 2, kMaxRowGroupBytes)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    const int64_t rows = batch.num_rows();
    if (rows == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const int64_t bytes, arrow::util::ReferencedBufferSize(batch));
    if (group_rows_ > 0 && group_bytes_ + bytes > row_group_bytes_) {
      ARROW_RETURN_NOT_OK(writer_->NewBufferedRowGroup());
      group_rows_ = 0;
      group_bytes_ = 0;
    }
    ARROW_RETURN_NOT_OK(writer_->WriteRecordBatch(batch));
    group_rows_ += rows;
    group_bytes_ += bytes;
    if (group_rows_ >= row_group_rows_) {  // the writer began new groups by itself
      group_rows_ %= row_group_rows_;
      group_bytes_ = bytes / rows * group_rows_;
    }
    return arrow::Status::OK();
  }
  arrow::Status Finish() override { return writer_->Close(); }

 private:
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
  const int64_t row_group_rows_;
  const int64_t row_group_bytes_;
  int64_t group_rows_ = 0;  // of the row group at hand
  int64_t group_bytes_ = 0;
};

}  // namespace

arrow::Status CheckParquetOptions(const SinkOptions& options) {
  if (FindCompression(options.compression) == nullptr) {
    return base::Invalid("compression is \"", options.compression,
                         "\"; Parquet has none, snappy, zstd, lz4, gzip and brotli");
  }
  if (options.row_group_rows < 1) {
    return base::Invalid("row_group_rows is ", options.row_group_rows, "; it must be at least 1");
  }
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeParquetWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options) {
  const auto arrow_properties = parquet::ArrowWriterProperties::Builder().store_schema()->build();
  std::shared_ptr<parquet::SchemaDescriptor> descriptor;
  parquet::WriterProperties::Builder builder;
  ARROW_RETURN_NOT_OK(parquet::arrow::ToParquetSchema(schema.get(), *builder.build(),
                                                      *arrow_properties, &descriptor));
  DisableDictionaries(*descriptor, &builder);
  builder.compression(FindCompression(options.compression)->type);
  builder.max_row_group_length(options.row_group_rows);
  // The stream is borrowed: an alias without an owner.
  const std::shared_ptr<arrow::io::OutputStream> borrowed(std::shared_ptr<void>(), out);
  ARROW_ASSIGN_OR_RAISE(
      std::unique_ptr<parquet::arrow::FileWriter> writer,
      parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), borrowed,
                                       builder.build(), arrow_properties));
  return std::make_unique<ParquetWriter>(std::move(writer), options);
}

}  // namespace kinjo::tabular
