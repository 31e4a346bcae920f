// Keeping a vector index: new fragments get a segment, small and stale segments are merged into it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/index_build.h"

namespace kinjo::dataset {

struct IndexOptimizeOptions {
  IndexBuildOptions build;
  /// Of the newest segments, how many to merge with the new rows; 0 = a segment of their own.
  /// Nothing: those not more than twice as large as what they are merged with, so that few segments
  /// stay however many appends there are; and those a quarter of whose rows are gone.
  std::optional<int64_t> num_indices_to_merge;
  /// Builds everything anew into one segment, with a model trained on the rows of today.
  bool retrain = false;
};

struct OptimizedIndex {
  std::string name;
  bool changed = false;               ///< false: nothing was to do, and no version was made
  uint64_t version = 0;               ///< the newest version
  std::vector<std::string> replaced;  ///< segments that went
  std::optional<BuiltSegment> built;
};

/// Brings an index up to the rows of the latest version. Rows are coded anew from their vectors
/// with the model of the largest segment, so rows that were deleted or moved drop out, and the
/// bounds of a scalar quantizer fit the rows of the new segment. `conflict` when another writer
/// changed the index meanwhile.
arrow::Result<OptimizedIndex> OptimizeIndex(const std::string& uri, const std::string& name,
                                            const IndexOptimizeOptions& options);

}  // namespace kinjo::dataset
