#include "format/file/field_read_v20.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "arrow/util/bit_util.h"
#include "arrow/util/bitmap_generate.h"
#include "format/file/nested.h"

namespace kinjo::format::file {

namespace {

using ArrayDataPointer = std::shared_ptr<arrow::ArrayData>;

class FieldReading {
 public:
  FieldReading(const ColumnMap& columns, const ReadSource& source)
      : columns_(columns), path_(source.path), source_(source) {}

  arrow::Result<ArrayDataPointer> Read(const Field& field, std::span<const RowRange> ranges,
                                       uint64_t num_rows);

 private:
  arrow::Result<ArrayDataPointer> ReadLeaf(const Field& field, std::span<const RowRange> ranges,
                                           uint64_t num_rows);
  arrow::Result<ArrayDataPointer> ReadStruct(const Field& field,
                                             std::shared_ptr<arrow::DataType> type,
                                             std::span<const RowRange> ranges, uint64_t num_rows);
  arrow::Result<ArrayDataPointer> ReadList(const Field& field,
                                           std::shared_ptr<arrow::DataType> type,
                                           std::span<const RowRange> ranges, uint64_t num_rows);
  // Some column at or below the field is stored.
  bool IsStored(const Field& field) const;
  // A struct has a column of its own: a packed one has no others.
  bool IsPacked(const Field& field) const;

  const ColumnMap& columns_;
  const std::string& path_;
  const ReadSource source_;
};

uint64_t CountRows(std::span<const RowRange> ranges) {
  uint64_t total = 0;
  for (const RowRange& range : ranges) total += range.end - range.begin;
  return total;
}

bool FieldReading::IsStored(const Field& field) const {
  if (columns_.contains(field.id)) return true;
  for (const Field& child : field.children) {
    if (IsStored(child)) return true;
  }
  return false;
}

bool FieldReading::IsPacked(const Field& field) const {
  return columns_.contains(field.id) &&
         std::none_of(field.children.begin(), field.children.end(),
                      [this](const Field& child) { return IsStored(child); });
}

arrow::Result<ArrayDataPointer> FieldReading::Read(const Field& field,
                                                   std::span<const RowRange> ranges,
                                                   uint64_t num_rows) {
  ARROW_ASSIGN_OR_RAISE(auto type, ToArrowType(field));
  if (!IsStored(field)) {
    ARROW_ASSIGN_OR_RAISE(auto nulls,
                          arrow::MakeArrayOfNull(type, static_cast<int64_t>(CountRows(ranges))));
    return nulls->data();
  }
  switch (type->id()) {
    case arrow::Type::STRUCT:
      if (type->num_fields() == 0) {
        return arrow::ArrayData::Make(type, static_cast<int64_t>(CountRows(ranges)), {nullptr}, 0);
      }
      if (IsPacked(field)) return ReadLeaf(field, ranges, num_rows);
      return ReadStruct(field, std::move(type), ranges, num_rows);
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
      return ReadList(field, std::move(type), ranges, num_rows);
    default:
      return ReadLeaf(field, ranges, num_rows);
  }
}

arrow::Result<ArrayDataPointer> FieldReading::ReadLeaf(const Field& field,
                                                       std::span<const RowRange> ranges,
                                                       uint64_t num_rows) {
  ARROW_ASSIGN_OR_RAISE(const FieldPlan plan, PlanField(field, columns_));
  if (plan.leaves.size() != 1 || plan.root.kind != FieldNode::Kind::kLeaf) {
    return base::NotSupported("field '", field.name, "' of ", path_, ": values of type ",
                              plan.root.type->ToString(), " aren't read");
  }
  const uint64_t total = CountRows(ranges);
  std::vector<std::unique_ptr<ColumnSink>> sinks;
  sinks.push_back(std::make_unique<ColumnSink>(plan.leaves[0].shape, total));
  if (total > 0) {
    ARROW_ASSIGN_OR_RAISE(auto column,
                          source_.columns->OpenColumn(plan.leaves[0].column, num_rows));
    ARROW_RETURN_NOT_OK(
        column->Read(plan.leaves[0].shape, ranges, sinks[0].get(), source_.at_hand));
  }
  return BuildArray(plan, &sinks, total, path_, source_.blobs);
}

arrow::Result<ArrayDataPointer> FieldReading::ReadStruct(const Field& field,
                                                         std::shared_ptr<arrow::DataType> type,
                                                         std::span<const RowRange> ranges,
                                                         uint64_t num_rows) {
  auto made = arrow::ArrayData::Make(std::move(type), static_cast<int64_t>(CountRows(ranges)),
                                     {nullptr}, 0);
  for (const Field& child : field.children) {
    ARROW_ASSIGN_OR_RAISE(auto values, Read(child, ranges, num_rows));
    made->child_data.push_back(std::move(values));
  }
  return made;
}

// Offsets of T out of lengths.
template <typename T>
arrow::Result<std::shared_ptr<arrow::Buffer>> MakeOffsets(const std::vector<uint64_t>& lengths) {
  ARROW_ASSIGN_OR_RAISE(
      std::shared_ptr<arrow::Buffer> buffer,
      arrow::AllocateBuffer(static_cast<int64_t>((lengths.size() + 1) * sizeof(T))));
  T* out = reinterpret_cast<T*>(buffer->mutable_data());
  out[0] = 0;
  for (size_t i = 0; i < lengths.size(); ++i) out[i + 1] = out[i] + static_cast<T>(lengths[i]);
  return buffer;
}

arrow::Result<ArrayDataPointer> FieldReading::ReadList(const Field& field,
                                                       std::shared_ptr<arrow::DataType> type,
                                                       std::span<const RowRange> ranges,
                                                       uint64_t num_rows) {
  const auto found = columns_.find(field.id);
  if (found == columns_.end() || field.children.size() != 1) {
    return base::NotSupported("field '", field.name, "' of ", path_,
                              ": lists without their own column aren't read");
  }
  ListRows rows;
  uint64_t num_items = 0;
  if (CountRows(ranges) > 0) {
    ARROW_ASSIGN_OR_RAISE(auto column, source_.columns->OpenListColumn(found->second, num_rows));
    ARROW_ASSIGN_OR_RAISE(rows, column->Read(ranges, source_.at_hand));
    num_items = column->num_items();
  }
  const bool large = type->id() == arrow::Type::LARGE_LIST;
  const uint64_t total = CountRows(rows.items);
  if (!large && total > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    return base::MakeError(base::ErrorCode::kCapacity,
                           base::Concat("field '", field.name, "': the rows asked for hold ", total,
                                        " list items; read fewer rows at a time"),
                           path_);
  }
  ARROW_ASSIGN_OR_RAISE(auto offsets, large ? MakeOffsets<int64_t>(rows.lengths)
                                            : MakeOffsets<int32_t>(rows.lengths));
  const auto count = static_cast<int64_t>(rows.lengths.size());
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> validity, arrow::AllocateEmptyBitmap(count));
  int64_t null_count = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_null = rows.is_null[static_cast<size_t>(i)];
    null_count += is_null;
    if (!is_null) arrow::bit_util::SetBit(validity->mutable_data(), i);
  }
  if (null_count == 0) validity = nullptr;
  auto made = arrow::ArrayData::Make(std::move(type), count,
                                     {std::move(validity), std::move(offsets)}, null_count);
  ARROW_ASSIGN_OR_RAISE(auto items, Read(field.children[0], rows.items, num_items));
  made->child_data.push_back(std::move(items));
  return made;
}

}  // namespace

arrow::Result<ArrayDataPointer> ReadFieldV20(const Field& field, const ColumnMap& columns,
                                             std::span<const RowRange> ranges, uint64_t num_rows,
                                             const ReadSource& source) {
  return FieldReading(columns, source).Read(field, ranges, num_rows);
}

}  // namespace kinjo::format::file
