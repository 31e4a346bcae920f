// One top-level field on its way into a file of version 2.0: every field of the tree, also a struct
// or a list, owns a column. field_read_v20.h reads it.
#pragma once

#include <memory>

#include "format/file/field_writer.h"

namespace kinjo::format::file {

/// Borrows both arguments.
arrow::Result<std::unique_ptr<FieldWriter>> MakeFieldWriterV20(const Field& field,
                                                               const FieldWriteContext& context);

}  // namespace kinjo::format::file
