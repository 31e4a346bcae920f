// A version of a dataset made the newest again, and tags on versions.
#pragma once

#include <cstdint>
#include <string>

#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/dataset.h"

namespace kinjo::dataset {

/// Commits a new version that holds what the version that `which` names (by number or tag) holds;
/// gives its number. What was committed since stays readable.
arrow::Result<uint64_t> RestoreVersion(const std::string& uri, const OpenOptions& which,
                                       const base::CancelToken& cancel);

// A tag names a version: `name` has letters, digits, '.', '-' and '_' and begins with none of the
// last three. `version`: nothing = the newest. Each is one small file; no version is committed.

/// A name that is taken is `conflict`.
arrow::Status CreateTag(const std::string& uri, const std::string& name,
                        std::optional<uint64_t> version);
/// Moves a tag to another version.
arrow::Status UpdateTag(const std::string& uri, const std::string& name,
                        std::optional<uint64_t> version);
arrow::Status DeleteTag(const std::string& uri, const std::string& name);

}  // namespace kinjo::dataset
