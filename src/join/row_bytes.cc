#include "join/row_bytes.h"

#include <algorithm>

#include "arrow/array.h"
#include "arrow/util/byte_size.h"

namespace kinjo::join {

namespace {

// Bytes that a value of a type without a fixed width is taken to have.
constexpr int64_t kVariableValueBytes = 48;

void AddArrayBytes(const arrow::Array& array, std::vector<int64_t>* bytes);

template <typename ArrayType>
void AddValueLengths(const arrow::Array& array, std::vector<int64_t>* bytes) {
  const auto& values = static_cast<const ArrayType&>(array);
  for (int64_t i = 0; i < array.length(); ++i) {
    (*bytes)[i] += values.value_length(i) + static_cast<int64_t>(sizeof(values.value_offset(i)));
  }
}

template <typename ArrayType>
void AddItems(const arrow::Array& array, std::vector<int64_t>* bytes) {
  const auto& lists = static_cast<const ArrayType&>(array);
  std::vector<int64_t> items(static_cast<size_t>(lists.values()->length()), 0);
  AddArrayBytes(*lists.values(), &items);
  for (int64_t i = 0; i < array.length(); ++i) {
    const auto first = items.begin() + lists.value_offset(i);
    for (auto item = first; item < first + lists.value_length(i); ++item) (*bytes)[i] += *item;
  }
}

void AddEvenly(const arrow::Array& array, std::vector<int64_t>* bytes) {
  const int64_t rows = std::max<int64_t>(array.length(), 1);
  const int64_t each = 1 + arrow::util::ReferencedBufferSize(array).ValueOr(0) / rows;
  for (int64_t i = 0; i < array.length(); ++i) (*bytes)[i] += each;
}

bool HasFixedWidth(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    return HasFixedWidth(*static_cast<const arrow::FixedSizeListType&>(type).value_type());
  }
  return type.bit_width() > 0;
}

void AddArrayBytes(const arrow::Array& array, std::vector<int64_t>* bytes) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return AddValueLengths<arrow::BinaryArray>(array, bytes);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return AddValueLengths<arrow::LargeBinaryArray>(array, bytes);
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return AddItems<arrow::ListArray>(array, bytes);
    case arrow::Type::LARGE_LIST:
      return AddItems<arrow::LargeListArray>(array, bytes);
    case arrow::Type::FIXED_SIZE_LIST:
      if (HasFixedWidth(*array.type())) return AddEvenly(array, bytes);
      return AddItems<arrow::FixedSizeListArray>(array, bytes);
    case arrow::Type::STRUCT:
      for (int i = 0; i < array.num_fields(); ++i) {
        AddArrayBytes(*static_cast<const arrow::StructArray&>(array).field(i), bytes);
      }
      return;
    default:
      return AddEvenly(array, bytes);
  }
}

}  // namespace

int64_t ValueBytes(const arrow::DataType& type) {
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
    return list.list_size() * ValueBytes(*list.value_type());
  }
  if (type.id() == arrow::Type::STRUCT) {
    int64_t bytes = 0;
    for (const auto& child : type.fields()) bytes += ValueBytes(*child->type());
    return bytes;
  }
  const int bits = type.bit_width();
  return bits > 0 ? (bits + 7) / 8 : kVariableValueBytes;
}

std::vector<int64_t> RowBytes(const arrow::RecordBatch& batch) {
  std::vector<int64_t> bytes(static_cast<size_t>(batch.num_rows()), 0);
  for (const auto& column : batch.columns()) AddArrayBytes(*column, &bytes);
  return bytes;
}

}  // namespace kinjo::join
