// The hint beside the manifests that tells which version was the latest lately: a start for stores
// whose listings aren't sorted. Never needed, never trusted.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::format {

arrow::Status WriteVersionHint(const io::Location& root, uint64_t version);

}  // namespace kinjo::format
