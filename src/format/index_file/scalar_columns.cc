#include "format/index_file/scalar_columns.h"

#include <utility>

#include "arrow/array/util.h"

namespace kinjo::format {

arrow::Result<std::shared_ptr<LanceFile>> OpenScalarFile(
    const io::Location& directory, const std::string& name,
    const std::shared_ptr<io::IoCounters>& counters) {
  ARROW_ASSIGN_OR_RAISE(auto reader, io::OpenFile(io::Child(directory, name), 0, counters));
  return LanceFile::Open(std::move(reader));
}

arrow::Result<const Field*> FindScalarColumn(const LanceFile& file, const std::string& name,
                                             const std::shared_ptr<arrow::DataType>& type) {
  for (const Field& field : file.schema().fields) {
    if (field.name != name) continue;
    ARROW_ASSIGN_OR_RAISE(const auto found, ToArrowType(field));
    if (type == nullptr || found->Equals(*type)) return &field;
    return base::Corrupt(file.path(), 0, "Column `", name, "` of the index file is ",
                         found->ToString(), ", not ", type->ToString());
  }
  return base::Corrupt(file.path(), 0, "The index file has no column `", name, "`");
}

arrow::Result<std::shared_ptr<arrow::Array>> ReadScalarColumn(LanceFile* file, const Field& field,
                                                              std::span<const RowRange> ranges) {
  uint64_t rows = 0;
  for (const RowRange& range : ranges) rows += range.end - range.begin;
  if (rows == 0) {
    ARROW_ASSIGN_OR_RAISE(const auto type, ToArrowType(field));
    return arrow::MakeEmptyArray(type);
  }
  ARROW_ASSIGN_OR_RAISE(auto array, file->ReadRows(field, file->own_columns(), ranges));
  if (static_cast<uint64_t>(array->length()) != rows) {
    return base::Corrupt(file->path(), 0, "Column `", field.name, "` of the index file has ",
                         array->length(), " values in ", rows, " rows");
  }
  return array;
}

}  // namespace kinjo::format
