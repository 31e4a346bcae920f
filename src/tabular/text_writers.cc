// CSV and JSON Lines, written a row at a time into one buffer.
#include <string>
#include <utility>
#include <vector>

#include "tabular/format_writer.h"
#include "tabular/value_text.h"

namespace kinjo::tabular {

namespace {

constexpr size_t kFlushBytes = 1 << 16;

// What CSV and JSON Lines share: a ValueText a column and a buffer that goes out when it is full.
class RowWriter : public FormatWriter {
 public:
  RowWriter(arrow::io::OutputStream* out, std::vector<std::unique_ptr<ValueText>> columns)
      : columns_(std::move(columns)), out_(out) {}

  arrow::Status Write(const arrow::RecordBatch& batch) override {
    std::vector<const arrow::Array*> arrays;
    arrays.reserve(static_cast<size_t>(batch.num_columns()));
    for (int i = 0; i < batch.num_columns(); ++i) arrays.push_back(batch.column(i).get());
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      AppendRow(arrays, row, &text_);
      if (text_.size() >= kFlushBytes) ARROW_RETURN_NOT_OK(Flush());
    }
    return Flush();
  }

  arrow::Status Finish() override { return Flush(); }

 protected:
  virtual void AppendRow(const std::vector<const arrow::Array*>& arrays, int64_t row,
                         std::string* out) const = 0;

  std::vector<std::unique_ptr<ValueText>> columns_;
  std::string text_;

 private:
  arrow::Status Flush() {
    if (text_.empty()) return arrow::Status::OK();
    const arrow::Status status = out_->Write(text_.data(), static_cast<int64_t>(text_.size()));
    text_.clear();
    return status;
  }

  arrow::io::OutputStream* out_;
};

// A cell: in quotes when it would otherwise be read as something else. An empty text has quotes, so
// that it isn't a null.
void AppendCell(std::string_view text, std::string* out) {
  const bool needs_quotes = text.empty() || text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (!needs_quotes) {
    out->append(text);
    return;
  }
  out->push_back('"');
  for (const char c : text) {
    if (c == '"') out->push_back('"');
    out->push_back(c);
  }
  out->push_back('"');
}

class CsvWriter final : public RowWriter {
 public:
  CsvWriter(arrow::io::OutputStream* out, std::vector<std::unique_ptr<ValueText>> columns,
            const arrow::Schema& schema)
      : RowWriter(out, std::move(columns)) {
    for (int i = 0; i < schema.num_fields(); ++i) {
      if (i > 0) text_.push_back(',');
      AppendCell(schema.field(i)->name(), &text_);
    }
    text_.push_back('\n');
  }

 private:
  void AppendRow(const std::vector<const arrow::Array*>& arrays, int64_t row,
                 std::string* out) const override {
    std::string cell;
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (i > 0) out->push_back(',');
      if (arrays[i]->IsNull(row)) continue;
      cell.clear();
      columns_[i]->AppendPlain(*arrays[i], row, &cell);
      AppendCell(cell, out);
    }
    out->push_back('\n');
  }
};

class JsonlWriter final : public RowWriter {
 public:
  JsonlWriter(arrow::io::OutputStream* out, std::vector<std::unique_ptr<ValueText>> columns,
              const arrow::Schema& schema)
      : RowWriter(out, std::move(columns)) {
    for (const std::string& name : schema.field_names()) {
      std::string key = keys_.empty() ? "{" : ",";
      AppendJsonString(name, &key);
      keys_.push_back(key + ":");
    }
  }

 private:
  void AppendRow(const std::vector<const arrow::Array*>& arrays, int64_t row,
                 std::string* out) const override {
    if (arrays.empty()) out->push_back('{');
    for (size_t i = 0; i < arrays.size(); ++i) {
      out->append(keys_[i]);
      columns_[i]->AppendJson(*arrays[i], row, out);
    }
    out->append("}\n");
  }

  std::vector<std::string> keys_;  // what stands before each value: {"a": or ,"b":
};

arrow::Result<std::vector<std::unique_ptr<ValueText>>> MakeColumns(const arrow::Schema& schema,
                                                                   const TextStyle& style) {
  std::vector<std::unique_ptr<ValueText>> columns;
  for (const auto& field : schema.fields()) {
    ARROW_ASSIGN_OR_RAISE(auto text, MakeValueText(*field->type(), style, field->name()));
    columns.push_back(std::move(text));
  }
  return columns;
}

}  // namespace

arrow::Status CheckTextOptions(const SinkOptions& options) {
  if (options.compression.empty()) return arrow::Status::OK();
  return base::Invalid("compression is \"", options.compression,
                       "\", but only parquet and arrow files are compressed");
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeCsvWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions&) {
  const TextStyle style{.non_finite_is_null = false, .separator = ", "};
  ARROW_ASSIGN_OR_RAISE(auto columns, MakeColumns(*schema, style));
  return std::make_unique<CsvWriter>(out, std::move(columns), *schema);
}

arrow::Result<std::unique_ptr<FormatWriter>> MakeJsonlWriter(
    arrow::io::OutputStream* out, const std::shared_ptr<arrow::Schema>& schema,
    const SinkOptions&) {
  ARROW_ASSIGN_OR_RAISE(auto columns, MakeColumns(*schema, TextStyle{}));
  return std::make_unique<JsonlWriter>(out, std::move(columns), *schema);
}

}  // namespace kinjo::tabular
