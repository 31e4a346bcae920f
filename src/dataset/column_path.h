// Columns inside structs, named by dotted paths ("image.embedding"). A column at the top whose own
// name holds dots comes first.
#pragma once

#include <memory>
#include <string>

#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::dataset {

/// The column at the top that has to be read for `path`: `path` itself, or its first part.
std::string RootOf(const arrow::Schema& schema, const std::string& path);

/// The field that `path` leads to; null when there is none. Requires: no column at the top is named
/// `path`.
std::shared_ptr<arrow::Field> FindNested(const arrow::Schema& schema, const std::string& path);

/// The column that `path` leads to; where a struct around it is null, so is it. A batch without it
/// is an `internal` error: sides give what they were asked for.
arrow::Result<std::shared_ptr<arrow::Array>> ColumnAt(const arrow::RecordBatch& batch,
                                                      const std::string& path);

}  // namespace kinjo::dataset
