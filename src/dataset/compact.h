// Compaction: small fragments become large ones, and deleted rows leave the files.
#pragma once

#include <cstdint>
#include <string>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"

namespace kinjo::dataset {

struct CompactOptions {
  uint64_t target_rows = uint64_t{1} << 20;  ///< of a fragment
  /// A fragment is rewritten alone, too, where more than this part of its rows is deleted.
  double deleted_share_max = 0.1;
  base::CancelToken cancel;
  base::ProgressCallback progress;  ///< may be empty
};

struct CompactReport {
  uint64_t version = 0;  ///< the newest one when there was nothing to do
  uint64_t old_fragments = 0;
  uint64_t new_fragments = 0;
  uint64_t rows = 0;  ///< rewritten
  uint64_t bytes = 0;
};

/// Rewrites neighbouring fragments below the target size, and those with many deleted rows. The
/// rewritten rows keep their order and come last, as Lance has it. Vector indexes go on covering
/// them: unless row ids are stable, their segments are copied with the new addresses, in a second
/// version after one that sets ids of fragments aside. (Rows that were deleted stay in a segment,
/// never found, until it is optimized.) Other indexes keep their entries, and what they covered
/// counts as not indexed. Fragments that different indexes cover aren't put together. A dataset
/// whose last compaction put off the remapping of its indexes is `not_supported`. `conflict` when
/// another writer changed one of the fragments meanwhile.
arrow::Result<CompactReport> CompactDataset(const std::string& uri, const CompactOptions& options);

}  // namespace kinjo::dataset
