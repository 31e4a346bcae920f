// Columns of blobs: a row says where its value lies in the data file, and the value is read from
// there.
#pragma once

#include <memory>

#include "arrow/array.h"
#include "arrow/type.h"
#include "base/error.h"
#include "format/file/bytes.h"
#include "format/schema.h"
#include "io/random_reader.h"

namespace kinjo::format::file {

/// What a column of this form stores of a row: position and size, or the children of a packed
/// struct. `form` isn't kNone.
std::shared_ptr<arrow::DataType> BlobPlaceType(BlobForm form);

/// Reads the values that `places` (packed rows of BlobPlaceType) name, as an array of `type`, which
/// is that of bytes with 64-bit offsets. Places outside of the file, or that together hold more
/// than it, are `corrupt`; a value in a file of its own is `not_supported`.
arrow::Result<std::shared_ptr<arrow::ArrayData>> ReadBlobs(
    const std::shared_ptr<arrow::DataType>& type, BlobForm form, const arrow::ArrayData& places,
    io::RandomReader* reader, const Where& where);

}  // namespace kinjo::format::file
