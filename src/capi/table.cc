// Tables, the left side of a join, at the wall.
#include <cstring>

#include "arrow/array.h"
#include "arrow/buffer.h"
#include "arrow/buffer_builder.h"
#include "arrow/c/bridge.h"
#include "arrow/util/int_util_overflow.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
#include "tabular/plain_types.h"
#include "tabular/table_source.h"

using namespace kinjo::capi;  // NOLINT: the functions below are C's

namespace {

kinjo_table_options Defaults() {
  return {sizeof(kinjo_table_options), nullptr, KINJO_UNSET, KINJO_UNSET};
}

arrow::Result<kinjo::tabular::SourceOptions> ToSourceOptions(const kinjo_table_options* options) {
  kinjo_table_options given = Defaults();
  ARROW_RETURN_NOT_OK(ReadStruct(options, "kinjo_table_options", &given));
  kinjo::tabular::SourceOptions source;
  source.format = TextOf(given.format);
  ARROW_ASSIGN_OR_RAISE(source.lance_version, OptionalVersion("version", given.version));
  if (given.batch_rows != KINJO_UNSET) {
    if (given.batch_rows < 1) {
      return kinjo::base::Invalid("batch_rows is ", given.batch_rows, "; it must be at least 1");
    }
    source.batch_rows = given.batch_rows;
  }
  return source;
}

arrow::Result<std::shared_ptr<arrow::DataType>> ToElementType(const std::string& word) {
  if (word.empty() || word == "float32") return arrow::float32();
  if (word == "float16") return arrow::float16();
  if (word == "float64") return arrow::float64();
  if (word == "uint8") return arrow::uint8();
  if (word == "int8") return arrow::int8();
  return kinjo::base::Invalid("element_type is '", word,
                              "'; it must be float16, float32, float64, uint8 or int8");
}

arrow::Result<std::shared_ptr<arrow::Array>> CopyVectors(
    const void* values, const std::shared_ptr<arrow::DataType>& element, int64_t num_vectors,
    int64_t width) {
  if (num_vectors < 0)
    return kinjo::base::Invalid("num_vectors is ", num_vectors, "; it must not be negative");
  if (width < 1 || width > INT32_MAX) {
    return kinjo::base::Invalid("width is ", width, "; it must be from 1 to ", INT32_MAX);
  }
  int64_t bytes = 0;
  if (arrow::internal::MultiplyWithOverflow(num_vectors, width, &bytes) ||
      arrow::internal::MultiplyWithOverflow(bytes, int64_t{element->byte_width()}, &bytes)) {
    return kinjo::base::Invalid(num_vectors, " vectors of width ", width,
                                " are more than fits into memory");
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(bytes));
  if (bytes > 0) std::memcpy(buffer->mutable_data(), values, static_cast<size_t>(bytes));
  const auto elements = arrow::MakeArray(arrow::ArrayData::Make(
      element, num_vectors * width, {nullptr, std::move(buffer)}, /*null_count=*/0));
  const auto type = arrow::fixed_size_list(arrow::field("item", element, /*nullable=*/false),
                                           static_cast<int32_t>(width));
  return std::make_shared<arrow::FixedSizeListArray>(type, num_vectors, elements);
}

// Where each list begins, and the end of the last.
arrow::Result<std::shared_ptr<arrow::Buffer>> ListOffsets(const int64_t* list_lengths,
                                                          int64_t num_lists) {
  if (num_lists < 0)
    return kinjo::base::Invalid("num_lists is ", num_lists, "; it must not be negative");
  arrow::TypedBufferBuilder<int32_t> offsets;
  int64_t end = 0;
  ARROW_RETURN_NOT_OK(offsets.Append(0));
  for (int64_t i = 0; i < num_lists; ++i) {
    if (list_lengths[i] < 0 || list_lengths[i] > INT32_MAX - end) {
      return kinjo::base::Invalid("list_lengths[", i, "] is ", list_lengths[i],
                                  "; all lists together hold from 0 to ", INT32_MAX, " vectors");
    }
    end += list_lengths[i];
    ARROW_RETURN_NOT_OK(offsets.Append(static_cast<int32_t>(end)));
  }
  return offsets.Finish();
}

// A table of one column, `vector`.
kinjo_table* TableOf(const std::shared_ptr<arrow::Array>& column) {
  const auto schema = arrow::schema({arrow::field("vector", column->type(), /*nullable=*/false)});
  auto rows = arrow::RecordBatch::Make(schema, column->length(), {column});
  return new kinjo_table{kinjo::tabular::MakeBatchSource(std::move(rows), "memory")};
}

}  // namespace

void kinjo_table_options_init(kinjo_table_options* options, size_t struct_size) {
  InitStruct(options, struct_size, Defaults());
}

bool kinjo_table_open(const char* uri, const kinjo_table_options* options, kinjo_table** table,
                      kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(uri, "uri"));
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(StartEngine());
    ARROW_ASSIGN_OR_RAISE(const auto source_options, ToSourceOptions(options));
    ARROW_ASSIGN_OR_RAISE(auto source, kinjo::tabular::OpenTable(uri, source_options));
    *table = new kinjo_table{std::move(source)};
    return arrow::Status::OK();
  });
}

bool kinjo_table_from_stream(ArrowArrayStream* stream, const char* name, kinjo_table** table,
                             kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
    ARROW_ASSIGN_OR_RAISE(auto reader, arrow::ImportRecordBatchReader(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(StartEngine());
    auto source = kinjo::tabular::MakeStreamSource(
        kinjo::tabular::WithPlainTypes(std::move(reader)), TextOf(name));
    *table = new kinjo_table{std::move(source)};
    return arrow::Status::OK();
  });
}

bool kinjo_table_from_rows(ArrowArrayStream* stream, const char* name, kinjo_table** table,
                           kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(stream, "stream"));
    ARROW_ASSIGN_OR_RAISE(auto imported, arrow::ImportRecordBatchReader(stream));
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(StartEngine());
    const auto reader = kinjo::tabular::WithPlainTypes(std::move(imported));
    ARROW_ASSIGN_OR_RAISE(auto batches, reader->ToRecordBatches());
    *table = new kinjo_table{
        kinjo::tabular::MakeRowsSource(reader->schema(), std::move(batches), TextOf(name))};
    return arrow::Status::OK();
  });
}

bool kinjo_table_from_vectors(const void* values, const char* element_type, int64_t num_vectors,
                              int64_t width, kinjo_table** table, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(values, "values"));
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(StartEngine());
    ARROW_ASSIGN_OR_RAISE(const auto element, ToElementType(TextOf(element_type)));
    ARROW_ASSIGN_OR_RAISE(const auto column, CopyVectors(values, element, num_vectors, width));
    *table = TableOf(column);
    return arrow::Status::OK();
  });
}

bool kinjo_table_from_vector_lists(const void* values, const char* element_type,
                                   const int64_t* list_lengths, int64_t num_lists, int64_t width,
                                   kinjo_table** table, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(values, "values"));
    ARROW_RETURN_NOT_OK(RequireArgument(list_lengths, "list_lengths"));
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(StartEngine());
    ARROW_ASSIGN_OR_RAISE(const auto element, ToElementType(TextOf(element_type)));
    ARROW_ASSIGN_OR_RAISE(const auto offsets, ListOffsets(list_lengths, num_lists));
    const int64_t num_vectors = offsets->data_as<int32_t>()[num_lists];
    ARROW_ASSIGN_OR_RAISE(const auto vectors, CopyVectors(values, element, num_vectors, width));
    const auto type = arrow::list(arrow::field("item", vectors->type(), /*nullable=*/false));
    *table = TableOf(std::make_shared<arrow::ListArray>(type, num_lists, offsets, vectors));
    return arrow::Status::OK();
  });
}

bool kinjo_table_get_schema(const kinjo_table* table, ArrowSchema* schema, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(RequireArgument(schema, "schema"));
    return arrow::ExportSchema(*table->source->schema(), schema);
  });
}

bool kinjo_table_get_num_rows(const kinjo_table* table, int64_t* num_rows, kinjo_error** error) {
  return Wall(error, [&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(RequireArgument(table, "table"));
    ARROW_RETURN_NOT_OK(RequireArgument(num_rows, "num_rows"));
    *num_rows = table->source->num_rows().value_or(-1);
    return arrow::Status::OK();
  });
}

void kinjo_table_free(kinjo_table* table) { delete table; }
