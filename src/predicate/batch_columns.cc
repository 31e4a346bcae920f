#include "predicate/batch_columns.h"

#include <utility>

#include "arrow/array/array_dict.h"
#include "arrow/array/array_nested.h"
#include "arrow/array/array_primitive.h"
#include "arrow/compute/api_scalar.h"
#include "arrow/compute/api_vector.h"
#include "arrow/compute/cast.h"
#include "arrow/extension_type.h"
#include "arrow/type.h"
#include "arrow/util/checked_cast.h"
#include "predicate/evaluate.h"
#include "predicate/value_type.h"

namespace kinjo::predicate {

namespace {

using arrow::internal::checked_cast;
using ArrayPtr = std::shared_ptr<arrow::Array>;

arrow::Result<ArrayPtr> Field(const ArrayPtr& parent, const std::string& name,
                              const Expression& column) {
  const int index =
      parent->type_id() == arrow::Type::STRUCT
          ? checked_cast<const arrow::StructType&>(*parent->type()).GetFieldIndex(name)
          : -1;
  if (index < 0)
    return base::Invalid("column ", column.path.front(), " of the batch has no field ", name);
  const arrow::compute::StructFieldOptions options({index});
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum field, CallArrow("struct_field", {parent}, &options));
  return field.make_array();
}

}  // namespace

arrow::Result<ArrayPtr> PlainArray(ArrayPtr array) {
  const TypePtr plain = ValueType(array->type());
  while (array->type_id() == arrow::Type::EXTENSION)
    array = checked_cast<const arrow::ExtensionArray&>(*array).storage();
  if (array->type()->Equals(*plain)) return array;
  if (array->type_id() == arrow::Type::DICTIONARY) {
    const auto& dictionary = checked_cast<const arrow::DictionaryArray&>(*array);
    ARROW_ASSIGN_OR_RAISE(const ArrayPtr values, PlainArray(dictionary.dictionary()));
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                          CallArrow("array_take", {values, dictionary.indices()}));
    return taken.make_array();
  }
  if (array->type_id() == arrow::Type::RUN_END_ENCODED) {
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum decoded, CallArrow("run_end_decode", {array}));
    return PlainArray(decoded.make_array());
  }
  const arrow::compute::CastOptions options = arrow::compute::CastOptions::Safe(plain);
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum cast, CallArrow("cast", {array}, &options));
  return cast.make_array();
}

arrow::Result<ArrayPtr> BatchColumns::Get(const Expression& column) {
  const auto known = plain_.find(column.path);
  if (known != plain_.end()) return known->second;
  ARROW_ASSIGN_OR_RAISE(ArrayPtr array, base_ == nullptr ? Read(column) : Filter(column));
  plain_.emplace(column.path, array);
  return array;
}

arrow::Result<ArrayPtr> BatchColumns::Filter(const Expression& column) {
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr all, base_->Get(column));
  const arrow::compute::FilterOptions options;
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum passed,
                        CallArrow("array_filter", {all, arrow::Datum(mask_->data())}, &options));
  return passed.make_array();
}

arrow::Result<ArrayPtr> BatchColumns::Read(const Expression& column) {
  ArrayPtr array = batch_->GetColumnByName(column.path.front());
  if (array == nullptr)
    return base::Invalid("the batch has no column ", column.path.front(), " to filter by");
  ARROW_ASSIGN_OR_RAISE(array, PlainArray(std::move(array)));
  for (size_t i = 1; i < column.path.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(array, Field(array, column.path[i], column));
    ARROW_ASSIGN_OR_RAISE(array, PlainArray(std::move(array)));
  }
  if (array->type()->Equals(*column.type)) return array;
  return base::Invalid("column ", column.path.front(), " of the batch has type ",
                       array->type()->ToString(), ", the filter was made for ",
                       column.type->ToString());
}

}  // namespace kinjo::predicate
