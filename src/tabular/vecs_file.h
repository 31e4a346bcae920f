// Files of vectors as the benchmarks of nearest-neighbour search exchange them: .fvecs (float32),
// .ivecs (int32) and .bvecs (uint8). A vector is its width (4 bytes, little-endian) and its
// numbers; all vectors of a file have one width.
#pragma once

#include <memory>

#include "base/error.h"
#include "tabular/table_file.h"

namespace kinjo::tabular {

/// Each is a table of one column, `vector`.
arrow::Result<std::shared_ptr<TableFile>> OpenFvecsFile(const io::Location& file);
arrow::Result<std::shared_ptr<TableFile>> OpenIvecsFile(const io::Location& file);
arrow::Result<std::shared_ptr<TableFile>> OpenBvecsFile(const io::Location& file);

}  // namespace kinjo::tabular
