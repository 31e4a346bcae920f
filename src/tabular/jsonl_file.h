// A JSON Lines file (one object a line) as a table.
#pragma once

#include <memory>

#include "tabular/table_file.h"

namespace kinjo::tabular {

/// Columns and types are those of the first 4 MiB; arrays are lists. A key that a row hasn't is
/// null. When all columns are read, a key that comes up later is an `invalid` error, for it would
/// be lost silently. An empty file has no columns and no rows.
arrow::Result<std::shared_ptr<TableFile>> OpenJsonlFile(const io::Location& file);

}  // namespace kinjo::tabular
