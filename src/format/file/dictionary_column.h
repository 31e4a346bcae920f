// Columns of Arrow's dictionary type: stored as their values (a page may have a dictionary of its
// own), handed out with one dictionary for the whole array.
#pragma once

#include <memory>

#include "arrow/array.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::format::file {

/// The type whose values a column of `type` stores.
std::shared_ptr<arrow::DataType> StoredType(const std::shared_ptr<arrow::DataType>& type);

/// Turns values into an array of the dictionary type `type`; `capacity` when there are more
/// distinct values than its indices can count.
arrow::Result<std::shared_ptr<arrow::ArrayData>> EncodeDictionary(
    const std::shared_ptr<arrow::DataType>& type, const std::shared_ptr<arrow::ArrayData>& values);

}  // namespace kinjo::format::file
