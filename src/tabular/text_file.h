// What the text formats (CSV, JSON Lines) have in common: column types are guessed from the first
// block, and nothing in the file tells how many rows it has.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tabular/table_file.h"

namespace kinjo::tabular {

/// Types are guessed from the first so many bytes; no row may be longer.
inline constexpr int32_t kTextBlockBytes = 4 << 20;

/// Everything of a text file but how it is parsed.
class TextFile : public TableFile {
 public:
  const std::string& uri() const override { return location_.uri; }
  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override {
    return is_empty_ ? std::optional<int64_t>(0) : std::nullopt;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(const arrow::FieldVector& fields,
                                                                int64_t /*batch_rows*/) override {
    if (is_empty_) return arrow::RecordBatchReader::Make({}, arrow::schema(fields));
    // Without any column the rows are still to be counted: one is read for that.
    return ReadFields(fields.empty() ? arrow::FieldVector{schema_->field(0)} : fields);
  }

 protected:
  explicit TextFile(io::Location location) : location_(std::move(location)) {}

  /// `fields` isn't empty.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> ReadFields(
      const arrow::FieldVector& fields) = 0;

  const io::Location& location() const { return location_; }
  /// Told once, when the file was looked at. A file without a byte has no column and no row.
  void SetSchema(std::shared_ptr<arrow::Schema> schema) { schema_ = std::move(schema); }
  void SetEmpty() {
    schema_ = arrow::schema({});
    is_empty_ = true;
  }

 private:
  const io::Location location_;
  std::shared_ptr<arrow::Schema> schema_;
  bool is_empty_ = false;
};

}  // namespace kinjo::tabular
