#include "dataset/column_parts.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "arrow/util/bitmap_ops.h"

namespace kinjo::dataset {
namespace {

struct Part {
  const format::ColumnMap* columns = nullptr;
  std::shared_ptr<arrow::ArrayData> data;
  const std::string* uri = nullptr;
};
using Parts = std::vector<Part>;

/// Bytes of one offset of a type of lists; 0 for types without offsets.
int OffsetBytes(arrow::Type::type type) {
  if (type == arrow::Type::LIST || type == arrow::Type::MAP) return sizeof(int32_t);
  return type == arrow::Type::LARGE_LIST ? sizeof(int64_t) : 0;
}

bool HoldsChild(const format::ColumnMap& columns, const format::Field& field) {
  return std::any_of(field.children.begin(), field.children.end(),
                     [&](const format::Field& child) { return HoldsAny(columns, child); });
}

arrow::Status CheckSameLists(const format::Field& field, const Part& first, const Part& other) {
  const int width = OffsetBytes(first.data->type->id());
  const bool same =
      first.data->length == other.data->length &&
      first.data->child_data[0]->length == other.data->child_data[0]->length &&
      (width == 0 || first.data->length == 0 ||
       std::memcmp(first.data->buffers[1]->data(), other.data->buffers[1]->data(),
                   static_cast<size_t>(first.data->length + 1) * static_cast<size_t>(width)) == 0);
  if (same) return arrow::Status::OK();
  return base::Corrupt(*other.uri, 0, "the lists of '", field.name, "' have other lengths than in ",
                       *first.uri);
}

/// Rows are there that are there in one of the parts.
arrow::Status JoinValidity(const Parts& parts, arrow::ArrayData* out) {
  out->buffers[0] = nullptr;
  out->SetNullCount(0);
  for (const Part& part : parts) {
    if (part.data->GetNullCount() == 0) return arrow::Status::OK();
  }
  std::shared_ptr<arrow::Buffer> joined = parts.front().data->buffers[0];
  for (size_t i = 1; i < parts.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(
        joined, arrow::internal::BitmapOr(arrow::default_memory_pool(), joined->data(), 0,
                                          parts[i].data->buffers[0]->data(), 0, out->length, 0));
  }
  out->buffers[0] = std::move(joined);
  out->SetNullCount(arrow::kUnknownNullCount);
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> Join(const format::Field& field,
                                                      const Parts& parts) {
  Parts holders;
  for (const Part& part : parts) {
    if (HoldsAny(*part.columns, field)) holders.push_back(part);
  }
  if (holders.empty()) return parts.front().data;
  if (holders.size() == 1) return holders.front().data;
  const Part& first = holders.front();
  const arrow::Type::type type = first.data->type->id();
  const bool is_list = OffsetBytes(type) != 0 || type == arrow::Type::FIXED_SIZE_LIST;
  for (const Part& part : holders) {
    // A leaf, or a column that is stored as one under its parent's id.
    if (!HoldsChild(*part.columns, field)) {
      return base::Corrupt(*part.uri, 0, "'", field.name, "' lies in ", *first.uri, " as well");
    }
    if (is_list) ARROW_RETURN_NOT_OK(CheckSameLists(field, first, part));
  }
  if ((!is_list && type != arrow::Type::STRUCT) ||
      field.children.size() != first.data->child_data.size()) {
    return base::NotSupported("'", field.name, "' of type ", first.data->type->ToString(),
                              " lies in both ", *first.uri, " and ", *holders[1].uri);
  }
  std::shared_ptr<arrow::ArrayData> joined = first.data->Copy();
  ARROW_RETURN_NOT_OK(JoinValidity(holders, joined.get()));
  for (size_t i = 0; i < field.children.size(); ++i) {
    Parts children;
    for (const Part& part : holders) {
      children.push_back({part.columns, part.data->child_data[i], part.uri});
    }
    ARROW_ASSIGN_OR_RAISE(joined->child_data[i], Join(field.children[i], children));
  }
  return joined;
}

}  // namespace

bool HoldsAny(const format::ColumnMap& columns, const format::Field& field) {
  return columns.contains(field.id) || HoldsChild(columns, field);
}

arrow::Result<std::shared_ptr<arrow::Array>> JoinParts(const format::Field& field,
                                                       const std::vector<ColumnPart>& parts) {
  Parts all;
  for (const ColumnPart& part : parts) all.push_back({part.columns, part.array->data(), part.uri});
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::ArrayData> joined, Join(field, all));
  return arrow::MakeArray(joined);
}

}  // namespace kinjo::dataset
