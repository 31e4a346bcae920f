// Versions that nobody needs any more, and files that no version names, taken off the disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/cancel_token.h"
#include "base/error.h"

namespace kinjo::dataset {

struct CleanupOptions {
  /// Versions at least this old go, unless something else keeps them.
  int64_t older_than_s = int64_t{14} * 24 * 3600;
  /// So many of the newest versions stay whatever their age.
  uint64_t keep_versions = 1;
  /// Files that no version names go only when they are at least this old: younger ones may belong
  /// to a writer that is about to commit.
  int64_t orphans_older_than_s = int64_t{7} * 24 * 3600;
  base::CancelToken cancel;
};

struct CleanupReport {
  uint64_t version = 0;   ///< the newest one
  uint64_t versions = 0;  ///< removed
  uint64_t files = 0;     ///< removed, manifests too
  uint64_t bytes = 0;     ///< of those files
};

/// Removes old versions of the dataset at `uri`, the files that only they name, and old files that
/// no version names. The newest version and those with a tag stay, and whatever they name.
/// Manifests go first, so that a crash leaves no version without its files. A dataset with branches
/// is `not_supported`: their versions name files of this one.
arrow::Result<CleanupReport> CleanUp(const std::string& uri, const CleanupOptions& options);

}  // namespace kinjo::dataset
