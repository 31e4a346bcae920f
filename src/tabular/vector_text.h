// Vectors as text, the way they stand in CSV cells: "[0.1, -2e3, 7]".
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "arrow/array/array_binary.h"
#include "arrow/array/array_nested.h"
#include "arrow/array/builder_nested.h"
#include "arrow/array/builder_primitive.h"
#include "base/error.h"

namespace kinjo::tabular {

/// Appends the numbers of a bracketed list to `out`: separated by commas or white space, `nan` and
/// `inf` allowed. False when `text` is something else; what was appended then is garbage.
bool ParseVectorText(std::string_view text, arrow::FloatBuilder* out);

/// Whether every value of a column is such a list, and there is at least one.
bool HoldsVectors(const arrow::StringArray& column);

/// The column as list<float>. A value that isn't a list is an `invalid` error that names `uri`, the
/// column and the row; `first_row` is the 1-based number of the column's first row.
arrow::Result<std::shared_ptr<arrow::Array>> ParseVectors(const arrow::StringArray& column,
                                                          const std::string& name,
                                                          const std::string& uri,
                                                          int64_t first_row);

}  // namespace kinjo::tabular
