// Arrays as a writer gets them, made to fit the field they are written to.
#pragma once

#include <memory>
#include <string>

#include "arrow/array/data.h"
#include "base/error.h"
#include "format/schema.h"

namespace kinjo::format::file {

/// `array` as the type that ToArrowType gives for `field`: extension types become their storage,
/// views of strings and bytes plain ones, at every level. Names of children are not compared. Any
/// other type is `invalid`; the message names both. `path` is the file, for the error.
arrow::Result<std::shared_ptr<arrow::ArrayData>> AdaptArray(const Field& field,
                                                            std::shared_ptr<arrow::ArrayData> array,
                                                            const std::string& path);

}  // namespace kinjo::format::file
