// What every kind of index entry of a manifest has in common: its column, the fragments it covers
// that are still there, and the name of its details.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/row_lookup.h"
#include "format/schema.h"
#include "format/table/manifest.h"

namespace kinjo::dataset {

/// Entries whose names begin so are no user's indexes.
inline constexpr std::string_view kSystemIndexPrefix = "__lance_";

/// Why no index of a dataset with a deferred remap can be used: row addresses moved under it.
inline constexpr const char* kStaleIndexReason =
    "fragments were compacted with a deferred index remap (__lance_frag_reuse), which this build "
    "doesn't follow, so all rows are scored; write the dataset anew to have an index";

/// True when a deferred remap made the row addresses of the manifest's indexes stale.
bool HasStaleIndexes(const format::Manifest& manifest);

/// Compares the name of an entry's details, without regard to case.
bool HasDetails(const format::IndexEntry& entry, std::string_view message);

/// Dotted path of the field with this id; "" when there is none.
std::string PathOfField(const std::vector<format::Field>& fields, int32_t id);

/// Covered fragments that are in the snapshot, rising.
std::vector<uint64_t> CoveredFragments(const format::IndexEntry& entry,
                                       const FragmentTable& fragments);

}  // namespace kinjo::dataset
