#include "format/file/leaf_type.h"

#include "format/file/bytes.h"

namespace kinjo::format::file {

arrow::Result<LeafType> MakeLeafType(const std::string& field_name,
                                     const std::shared_ptr<arrow::DataType>& type) {
  LeafType leaf;
  leaf.type = type;
  switch (type->id()) {
    case arrow::Type::NA:
      return leaf;
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      leaf.kind = LeafType::Kind::kVariable;
      return leaf;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      leaf.kind = LeafType::Kind::kVariable;
      leaf.large_offsets = true;
      return leaf;
    default:
      break;
  }
  leaf.kind = LeafType::Kind::kFixed;
  const arrow::DataType* item = type.get();
  uint64_t items = 1;
  bool fits = true;
  while (item->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*item);
    fits &= CheckedMultiply(items, static_cast<uint64_t>(list.list_size()), &items);
    leaf.items_per_value.push_back(items);
    item = list.value_type().get();
  }
  const bool plain = item->id() != arrow::Type::DICTIONARY && item->bit_width() > 0;
  fits &= plain &&
          CheckedMultiply(items, static_cast<uint64_t>(item->bit_width()), &leaf.bits_per_value);
  if (!fits || leaf.bits_per_value > UINT32_MAX) {
    return base::NotSupported("field '", field_name, "': values of type ", type->ToString(),
                              " aren't read");
  }
  return leaf;
}

}  // namespace kinjo::format::file
