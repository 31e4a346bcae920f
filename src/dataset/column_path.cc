#include "dataset/column_path.h"

#include <algorithm>
#include <vector>

#include "arrow/array/array_nested.h"

namespace kinjo::dataset {

namespace {

std::vector<std::string> SplitPath(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    parts.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::string RootOf(const arrow::Schema& schema, const std::string& path) {
  if (schema.GetFieldIndex(path) >= 0) return path;
  const std::string first = SplitPath(path)[0];
  return schema.GetFieldIndex(first) >= 0 ? first : path;
}

std::shared_ptr<arrow::Field> FindNested(const arrow::Schema& schema, const std::string& path) {
  const std::vector<std::string> parts = SplitPath(path);
  std::shared_ptr<arrow::Field> field = schema.GetFieldByName(parts[0]);
  for (size_t i = 1; i < parts.size() && field != nullptr; ++i) {
    if (field->type()->id() != arrow::Type::STRUCT) return nullptr;
    field = static_cast<const arrow::StructType&>(*field->type()).GetFieldByName(parts[i]);
  }
  return field;
}

arrow::Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch,
                                                      const std::string& path) {
  std::shared_ptr<arrow::Array> column = batch.GetColumnByName(path);
  if (column != nullptr) return column;
  const std::vector<std::string> parts = SplitPath(path);
  column = batch.GetColumnByName(parts[0]);
  for (size_t i = 1; i < parts.size() && column != nullptr; ++i) {
    if (column->type_id() != arrow::Type::STRUCT) return base::Internal("no column \"", path, "\"");
    const auto& rows = static_cast<const arrow::StructArray&>(*column);
    const int field = rows.struct_type()->GetFieldIndex(parts[i]);
    if (field < 0) return base::Internal("no column \"", path, "\"");
    ARROW_ASSIGN_OR_RAISE(column, rows.GetFlattenedField(field));
  }
  if (column == nullptr) return base::Internal("no column \"", path, "\"");
  return column;
}

}  // namespace kinjo::dataset
