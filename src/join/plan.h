// A join, decided: sides, columns, path, limits. Made by the planner from the right side and the
// options (and the left schema); run by the executor; shown by explain.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "exec/ann_ivf_partition.h"
#include "exec/neighbor_heaps.h"
#include "exec/partition_cache.h"
#include "join/columns.h"
#include "join/eligible_rows.h"
#include "join/index_choice.h"
#include "join/memory_plan.h"
#include "join/options.h"
#include "join/right_filter.h"
#include "join/right_side.h"
#include "join/ways.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// Immutable once made.
struct JoinPlan {
  JoinOptions options;
  std::shared_ptr<tabular::TableSource> left;
  std::shared_ptr<RightSide> right;
  VectorColumn left_vector;
  VectorColumn right_vector;
  OutputLayout layout;
  IndexChoice choice;
  exec::ProbeLimits probes;
  exec::DistanceRange range;
  MemoryPlan memory;
  Ways ways;
  std::vector<ConsideredWay> considered;  ///< the one that was chosen first
  EligibilityPlan eligibility;
  std::shared_ptr<const RightFilter> filter;  ///< null = every right row
  /// The rows that passed the filter: null in a plan, set in the copy that a run works with.
  std::shared_ptr<const dataset::RowMask> rows;
  /// Partitions that are in memory already: null in a plan, and in a run that chose nothing.
  std::shared_ptr<exec::PartitionCache> partitions;
  int threads = 1;        ///< that compute: those asked for, or so many as the memory limit allows
  int threads_asked = 1;  ///< or what the machine has
  /// Rows the index hands on: k, or k * refine_factor.
  int64_t candidates = 0;
  /// What a query looks for in the index: k rows, or, a vector of a left list, so many vectors.
  int64_t wanted = 0;
  /// Rows that a search in a graph holds.
  int64_t ef = 0;
  int64_t dim = 0;  ///< elements of a vector; 0 when there is none
  /// Vectors of a right row; estimated where rows are lists of vectors.
  int64_t row_vectors = 1;
  /// Candidates of the index are scored again on the true vectors.
  bool refines = false;

  /// Both sides are one table, compared by one column; told for joins that give pairs only.
  bool self_join = false;

  bool gives_pairs() const { return options.unordered_pairs || options.mutual || options.clusters; }
  /// What comes out is known only when the last left row was searched; the left is read twice.
  bool reads_left_twice() const { return options.mutual || options.clusters; }
  /// The right rows that match are searched for their own nearest left rows.
  bool searches_reverse() const { return options.mutual && !self_join; }
  kernels::Metric metric() const { return choice.metric; }
  /// What the distances of candidates are held to. Where true ones follow, the upper end is for
  /// those: an estimate beyond it says little, and the candidates are the nearest anyway.
  exec::DistanceRange candidate_range() const { return candidate_range(refines); }
  exec::DistanceRange candidate_range(bool scored_again) const {
    return scored_again ? exec::DistanceRange{.lower = range.lower} : range;
  }
  /// Takes the exact path from here on.
  void LeaveIndex() {
    choice.index.reset();
    refines = false;
    candidates = options.k;
  }
  bool uses_index() const { return choice.index.has_value(); }
  /// The right rows are lists of vectors, and the left ones are searched as such.
  bool multivector() const { return right_vector.multivector; }
  /// Right rows that are scanned at a time.
  int64_t scan_batch_rows() const {
    if (!multivector()) {
      return std::clamp(kScanBatchElements / std::max<int64_t>(dim, 1), kScanBatchRowsMin,
                        kScanBatchRows);
    }
    return std::clamp<int64_t>(2 * kScanBatchRows / row_vectors, 1, kScanBatchLists);
  }
  /// Fragments without index are scanned and merged.
  bool scans_unindexed() const;
  bool exact_distances() const;
};

/// Judges the options, resolves the columns, chooses the path and shares out the memory. Reads no
/// left row.
arrow::Result<std::shared_ptr<const JoinPlan>> MakePlan(std::shared_ptr<tabular::TableSource> left,
                                                        std::shared_ptr<RightSide> right,
                                                        const JoinOptions& options);

}  // namespace kinjo::join
