// Google's and Azure's object stores, by the file systems that Arrow brings: they are read. (S3 has
// a client of its own, which can commit: s3_file_system.h.)
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::io {

/// True of gs, az, abfs and abfss.
bool IsCloudScheme(std::string_view scheme);

/// Where `gs://bucket/path`, `az://container/path` or `abfss://container@account.../path` lies,
/// with the storage options of that address. Requires: one of the schemes. Thread-safe.
arrow::Result<Location> ResolveCloudUri(const std::string& uri);

}  // namespace kinjo::io
