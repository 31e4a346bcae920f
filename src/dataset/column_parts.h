// One column of which several data files of a fragment hold a part each: a struct, or lists of
// them, some of whose children were added, cast or updated later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/schema.h"

namespace kinjo::dataset {

/// What one data file has of a column: an array of the whole column's type, in which what the file
/// lacks is null.
struct ColumnPart {
  const format::ColumnMap* columns = nullptr;  ///< of the file
  std::shared_ptr<arrow::Array> array;
  const std::string* uri = nullptr;  ///< of the file
};

/// True when the file with these columns holds the field or anything below it.
bool HoldsAny(const format::ColumnMap& columns, const format::Field& field);

/// The whole column. Each leaf comes from the one file that holds it; a struct or list is there
/// where one of its files says so, as in Lance. Lists whose files differ in lengths, and a leaf
/// that two files hold, are `corrupt`. Requires: equal lengths, at least one part.
arrow::Result<std::shared_ptr<arrow::Array>> JoinParts(const format::Field& field,
                                                       const std::vector<ColumnPart>& parts);

}  // namespace kinjo::dataset
