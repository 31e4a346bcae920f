#include "format/file/adapted_array.h"

#include <utility>
#include <vector>

#include "arrow/array/util.h"
#include "arrow/compute/cast.h"
#include "arrow/extension_type.h"

namespace kinjo::format::file {

namespace {

using ArrayDataPointer = std::shared_ptr<arrow::ArrayData>;

bool IsView(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRING_VIEW || type.id() == arrow::Type::BINARY_VIEW;
}

// A copy that may be changed; the buffers stay shared.
ArrayDataPointer Retyped(const arrow::ArrayData& array, std::shared_ptr<arrow::DataType> type) {
  auto made = std::make_shared<arrow::ArrayData>(array);
  made->type = std::move(type);
  return made;
}

// Lists keep the number of items of a row in their type.
bool SameShape(const arrow::DataType& type, const arrow::DataType& wanted) {
  if (type.id() != wanted.id() || type.num_fields() != wanted.num_fields()) return false;
  if (type.id() != arrow::Type::FIXED_SIZE_LIST) return true;
  return static_cast<const arrow::FixedSizeListType&>(type).list_size() ==
         static_cast<const arrow::FixedSizeListType&>(wanted).list_size();
}

// Null when the array can't become `wanted`.
arrow::Result<ArrayDataPointer> Adapt(ArrayDataPointer array,
                                      const std::shared_ptr<arrow::DataType>& wanted) {
  while (array->type->id() == arrow::Type::EXTENSION) {
    const auto& extension = static_cast<const arrow::ExtensionType&>(*array->type);
    array = Retyped(*array, extension.storage_type());
  }
  if (array->type->Equals(*wanted) && wanted->num_fields() == 0 &&
      wanted->id() != arrow::Type::DICTIONARY) {
    return array;
  }
  if (IsView(*array->type)) {
    const bool text = array->type->id() == arrow::Type::STRING_VIEW;
    const bool fits =
        text ? wanted->id() == arrow::Type::STRING : wanted->id() == arrow::Type::BINARY;
    if (!fits) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto plain, arrow::compute::Cast(*arrow::MakeArray(array), wanted));
    return plain->data();
  }
  if (wanted->id() == arrow::Type::DICTIONARY) {
    if (array->type->id() != arrow::Type::DICTIONARY) return nullptr;
    const auto& type = static_cast<const arrow::DictionaryType&>(*array->type);
    const auto& wanted_type = static_cast<const arrow::DictionaryType&>(*wanted);
    if (!type.index_type()->Equals(*wanted_type.index_type())) return nullptr;
    auto made = Retyped(*array, wanted);
    ARROW_ASSIGN_OR_RAISE(made->dictionary, Adapt(array->dictionary, wanted_type.value_type()));
    return made->dictionary == nullptr ? nullptr : made;
  }
  if (wanted->num_fields() == 0 || !SameShape(*array->type, *wanted)) return nullptr;
  auto made = Retyped(*array, wanted);
  for (size_t i = 0; i < made->child_data.size(); ++i) {
    const auto& child_type = wanted->field(static_cast<int>(i))->type();
    ARROW_ASSIGN_OR_RAISE(made->child_data[i], Adapt(made->child_data[i], child_type));
    if (made->child_data[i] == nullptr) return nullptr;
  }
  return made;
}

}  // namespace

arrow::Result<ArrayDataPointer> AdaptArray(const Field& field, ArrayDataPointer array,
                                           const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const auto wanted, ToArrowType(field));
  const std::string given = array->type->ToString();
  ARROW_ASSIGN_OR_RAISE(auto adapted, Adapt(std::move(array), wanted));
  if (adapted == nullptr) {
    return base::MakeError(base::ErrorCode::kInvalid,
                           base::Concat("writing field '", field.name, "' of type ",
                                        wanted->ToString(), ": the rows have type ", given),
                           path);
  }
  return adapted;
}

}  // namespace kinjo::format::file
