// Finding and reading the columns of a scalar index's files, checked: what B-tree and bitmap files
// have in common.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "arrow/array.h"
#include "arrow/type.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// Opens a file of an index segment; `directory` is `_indices/<uuid>`.
arrow::Result<std::shared_ptr<LanceFile>> OpenScalarFile(
    const io::Location& directory, const std::string& name,
    const std::shared_ptr<io::IoCounters>& counters);

/// The top-level column `name`; `corrupt` when it isn't there or isn't of `type` (null = any).
arrow::Result<const Field*> FindScalarColumn(const LanceFile& file, const std::string& name,
                                             const std::shared_ptr<arrow::DataType>& type);

/// Reads rows of a column; `corrupt` unless there are as many values as rows.
arrow::Result<std::shared_ptr<arrow::Array>> ReadScalarColumn(LanceFile* file, const Field& field,
                                                              std::span<const RowRange> ranges);

}  // namespace kinjo::format
