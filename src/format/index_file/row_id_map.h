// Sets of row ids as bitmap indexes store them: a Roaring bitmap for each upper half of the ids.
// docs/format/index-file.md has the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "format/table/roaring_bitmap.h"

namespace kinjo::format {

/// The ids whose upper 32 bits are `upper`. (When ids are row addresses that is the fragment, and
/// the lower 32 bits are the row in it.)
struct RowIdGroup {
  uint32_t upper = 0;
  RoaringBitmap lower;
};

/// Parses one set; each `upper` comes once. `path` is the index file, for errors. A set that names
/// an upper half as a whole, without a bitmap, is `not_supported`.
arrow::Result<std::vector<RowIdGroup>> ParseRowIdMap(std::string_view bytes,
                                                     const std::string& path);

}  // namespace kinjo::format
