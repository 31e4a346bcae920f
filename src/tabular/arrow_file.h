// An Arrow IPC file or stream (.arrow, .feather, .ipc) as a table.
#pragma once

#include <memory>

#include "tabular/table_file.h"

namespace kinjo::tabular {

/// Tells the file format and the stream format apart by their first bytes. Local files are mapped,
/// so that a file whose rows are one large batch needs no memory of its size; such a file must not
/// be cut short while it is read. Feather V1 is `not_supported`.
arrow::Result<std::shared_ptr<TableFile>> OpenArrowFile(const io::Location& file);

}  // namespace kinjo::tabular
