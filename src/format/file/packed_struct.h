// Packed structs: structs whose rows one column stores, the values of the children side by side.
// Such a column is read as rows of bytes, which are then taken apart.
//
// Rows with children of fixed width only are values of one width (Lance stores those with vectors
// among them as if they weren't). Others are values of variable width: children in order, a fixed
// one as its bytes, a variable one as its length (8 bytes) and its bytes. A row of no bytes is
// null.
#pragma once

#include <memory>
#include <string>

#include "arrow/array.h"
#include "arrow/type.h"
#include "base/error.h"
#include "format/file/bytes.h"

namespace kinjo::format::file {

/// The type of the rows of a packed struct; `not_supported` names the field and the child that
/// can't be packed. `type` is a struct.
arrow::Result<std::shared_ptr<arrow::DataType>> PackedRowType(const std::string& field_name,
                                                              const arrow::DataType& type);

/// Takes `rows` (of PackedRowType) apart into an array of the struct `type`, null where they are;
/// `corrupt` when a row isn't as long as its children.
arrow::Result<std::shared_ptr<arrow::ArrayData>> UnpackStruct(
    const std::shared_ptr<arrow::DataType>& type, const arrow::ArrayData& rows, const Where& where);

}  // namespace kinjo::format::file
