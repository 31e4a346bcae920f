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

using ArrayDataPointer = std::shared_ptr<arrow::ArrayData>;
using TypePointer = std::shared_ptr<arrow::DataType>;

arrow::FieldVector FieldsWithoutDictionaries(const arrow::FieldVector& fields);

// The type with the values of its dictionaries, also within lists and structs.
TypePointer WithoutDictionaries(const TypePointer& type) {
  if (type->id() == arrow::Type::DICTIONARY) {
    return static_cast<const arrow::DictionaryType&>(*type).value_type();
  }
  if (type->num_fields() == 0) return type;
  const arrow::FieldVector fields = FieldsWithoutDictionaries(type->fields());
  switch (type->id()) {
    case arrow::Type::STRUCT:
      return arrow::struct_(fields);
    case arrow::Type::LIST:
      return arrow::list(fields[0]);
    case arrow::Type::LARGE_LIST:
      return arrow::large_list(fields[0]);
    case arrow::Type::FIXED_SIZE_LIST:
      return arrow::fixed_size_list(
          fields[0], static_cast<const arrow::FixedSizeListType&>(*type).list_size());
    case arrow::Type::MAP:
      return std::make_shared<arrow::MapType>(
          fields[0], static_cast<const arrow::MapType&>(*type).keys_sorted());
    default:
      return type;
  }
}

arrow::FieldVector FieldsWithoutDictionaries(const arrow::FieldVector& fields) {
  arrow::FieldVector plain;
  for (const auto& field : fields) {
    plain.push_back(field->WithType(WithoutDictionaries(field->type())));
  }
  return plain;
}

// The array as `type`, which WithoutDictionaries gave of its own.
arrow::Result<ArrayDataPointer> Decoded(const ArrayDataPointer& array, const TypePointer& type) {
  if (array->type->Equals(*type)) return array;
  if (array->type->id() == arrow::Type::DICTIONARY) {
    const arrow::DictionaryArray coded(array);
    ARROW_ASSIGN_OR_RAISE(const auto values,
                          arrow::compute::Take(*coded.dictionary(), *coded.indices()));
    return values->data();
  }
  auto made = std::make_shared<arrow::ArrayData>(*array);
  made->type = type;
  for (size_t i = 0; i < made->child_data.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(made->child_data[i],
                          Decoded(array->child_data[i], type->field(static_cast<int>(i))->type()));
  }
  return made;
}

class ArrowWriter final : public FormatWriter {
 public:
  ArrowWriter(std::shared_ptr<arrow::ipc::RecordBatchWriter> writer,
              std::shared_ptr<arrow::Schema> schema)
      : writer_(std::move(writer)), schema_(std::move(schema)) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    std::vector<ArrayDataPointer> columns = batch.column_data();
    for (size_t i = 0; i < columns.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(columns[i],
                            Decoded(columns[i], schema_->field(static_cast<int>(i))->type()));
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
                                                  const std::shared_ptr<arrow::Schema>& schema,
                                                  const SinkOptions& options, bool as_stream) {
  auto ipc = arrow::ipc::IpcWriteOptions::Defaults();
  ipc.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(const auto compression, FindCompression(options.compression));
  if (compression != arrow::Compression::UNCOMPRESSED) {
    ARROW_ASSIGN_OR_RAISE(ipc.codec, arrow::util::Codec::Create(compression));
  }
  if (as_stream) {
    ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeStreamWriter(out, schema, ipc));
    return std::make_unique<ArrowWriter>(std::move(writer), schema);
  }
  // Dictionaries change from batch to batch. A stream sends the new one; a file has one for good,
  // and one of all values of a column has no bound.
  auto plain = arrow::schema(FieldsWithoutDictionaries(schema->fields()), schema->metadata());
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(out, plain, ipc));
  return std::make_unique<ArrowWriter>(std::move(writer), std::move(plain));
}

}  // namespace

arrow::Status CheckArrowOptions(const SinkOptions& options) {
  return FindCompression(options.compression).status();
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeArrowFileWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options) {
  return Make(out, schema, options, /*as_stream=*/false);
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeArrowStreamWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions& options) {
  return Make(out, schema, options, /*as_stream=*/true);
}

}  // namespace kinjo::tabular
