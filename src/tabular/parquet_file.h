// A Parquet file as a table.
#pragma once

#include <memory>

#include "tabular/table_file.h"

namespace kinjo::tabular {

/// Reads the footer and keeps it: reading rows costs no second look. Rows are decoded page by page,
/// so that a large row group needs no more memory than a batch and a buffer a column.
arrow::Result<std::shared_ptr<TableFile>> OpenParquetFile(const io::Location& file);

}  // namespace kinjo::tabular
