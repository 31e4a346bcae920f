// Columns more, less, or under another name, without touching the files that are there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"

namespace kinjo::dataset {

struct AddColumnsOptions {
  base::CancelToken cancel;
  base::ProgressCallback progress;  ///< may be empty
};

struct AddColumnsReport {
  uint64_t version = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0;
};

/// Adds the columns of `columns` to the newest version: its row i goes to the i-th live row in the
/// order of a scan. Too few or too many rows, and names that are taken, are `invalid`. The new
/// columns may be null (deleted rows are). `conflict` when another writer changed rows or columns
/// meanwhile: which row a value belongs to isn't known then.
arrow::Result<AddColumnsReport> AddColumns(const std::string& uri,
                                           arrow::RecordBatchReader* columns,
                                           const AddColumnsOptions& options);

/// Drops top-level columns, and indexes on them; gives the new version. Dropping all is `invalid`.
arrow::Result<uint64_t> DropColumns(const std::string& uri, const std::vector<std::string>& names,
                                    const base::CancelToken& cancel);

/// Gives the column with the dotted path `path` another name (of the column alone); gives the new
/// version. Indexes stay.
arrow::Result<uint64_t> RenameColumn(const std::string& uri, const std::string& path,
                                     const std::string& name, const base::CancelToken& cancel);

}  // namespace kinjo::dataset
