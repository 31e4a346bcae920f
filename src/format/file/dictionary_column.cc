#include "format/file/dictionary_column.h"

#include "arrow/compute/api_vector.h"
#include "arrow/compute/cast.h"

namespace kinjo::format::file {

std::shared_ptr<arrow::DataType> StoredType(const std::shared_ptr<arrow::DataType>& type) {
  if (type->id() != arrow::Type::DICTIONARY) return type;
  return static_cast<const arrow::DictionaryType&>(*type).value_type();
}

arrow::Result<std::shared_ptr<arrow::ArrayData>> EncodeDictionary(
    const std::shared_ptr<arrow::DataType>& type, const std::shared_ptr<arrow::ArrayData>& values) {
  const auto& target = static_cast<const arrow::DictionaryType&>(*type);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum encoded, arrow::compute::DictionaryEncode(values));
  const arrow::DictionaryArray dictionary(encoded.array());
  auto indices = arrow::compute::Cast(*dictionary.indices(), target.index_type());
  if (!indices.ok()) {
    return base::MakeError(base::ErrorCode::kCapacity,
                           base::Concat(dictionary.dictionary()->length(),
                                        " distinct values in a column of ", type->ToString()));
  }
  ARROW_ASSIGN_OR_RAISE(
      auto made, arrow::DictionaryArray::FromArrays(type, *indices, dictionary.dictionary()));
  return made->data();
}

}  // namespace kinjo::format::file
