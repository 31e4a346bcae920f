// Tables, the left side of a join, at the wall.
#include "arrow/c/bridge.h"
#include "capi/optional_number.h"
#include "capi/wall.h"
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
    auto source = kinjo::tabular::MakeStreamSource(std::move(reader), TextOf(name));
    *table = new kinjo_table{std::move(source)};
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
