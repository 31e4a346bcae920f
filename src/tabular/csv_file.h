// A CSV file with a header line as a table.
#pragma once

#include <memory>

#include "tabular/table_file.h"

namespace kinjo::tabular {

/// Types are guessed from the first 4 MiB. Null is an empty cell without quotes, and nothing else.
/// A text column whose every value there is a bracketed list of numbers (see vector_text.h) is a
/// list<float>. A later value that doesn't fit is an `invalid` error with its row. An empty file
/// has no columns and no rows.
arrow::Result<std::shared_ptr<TableFile>> OpenCsvFile(const io::Location& file);

}  // namespace kinjo::tabular
