// Whether an index answers, which one, and why not the others. Looks at the right side and the
// options alone, so that the path never depends on the left side.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "index/ivf_segment.h"
#include "join/columns.h"
#include "join/options.h"

namespace kinjo::join {

/// The index that answers, opened.
struct ChosenIndex {
  dataset::IndexInfo info;
  std::vector<std::shared_ptr<index::IvfSegment>> segments;  ///< parallel to info.segments
  /// Fragments with live rows that no segment covers, rising.
  std::vector<uint64_t> unindexed_fragments;
  int64_t unindexed_rows = 0;
};

/// What was decided, and why.
struct IndexChoice {
  std::optional<ChosenIndex> index;  ///< nothing = the exact path
  kernels::Metric metric = kernels::Metric::kL2;
  std::string reason;               ///< of the path
  std::vector<std::string> others;  ///< the indexes not taken, each with why
};

/// Chooses. `dataset` is null for tables. `require` and a named index that can't be used fail with
/// `refused`; a name that doesn't exist with `not_found`.
arrow::Result<IndexChoice> ChooseIndex(dataset::Dataset* dataset, const VectorColumn& right,
                                       const JoinOptions& options);

}  // namespace kinjo::join
