// Which schemas a data file of a version can hold: what Lance itself refuses to write, or writes in
// a way that nobody reads back, is refused before the first byte.
#pragma once

#include <string>
#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/schema.h"

namespace kinjo::format::file {

/// `not_supported` names the field and the reason, `invalid` a schema that isn't one (two columns
/// of one name).
arrow::Status CheckWritable(const Schema& schema, FileVersion version);

/// The error of a null in a field that has none.
arrow::Status NullNotAllowed(const Field& field, const std::string& path);

}  // namespace kinjo::format::file
