// The whole plan of a nearest search on a dataset, made from the operators: what Lance plans for
// `nearest`, with this project's answers where they differ (docs/semantics.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"
#include "predicate/predicate.h"

namespace kinjo::exec {

/// A search that was judged before: which index fits is not decided here.
struct NearestRequest {
  VectorQuery query;
  /// One of the dataset's indexes, of the query's column and metric; null = every row is scored.
  const dataset::IndexInfo* index = nullptr;
  /// Rows that may match: those for which `predicate` is true, or those of `mask`. At most one is
  /// set; none = all.
  std::shared_ptr<const predicate::Predicate> predicate;
  std::shared_ptr<const dataset::RowMask> mask;
  /// Leaves fragments that the index doesn't cover out.
  bool fast_search = false;
  /// Gives rows that a filter passes and no probe reached their exact distances. Lance leaves them
  /// at +inf unless it refines.
  bool scores_unreached = true;
  std::vector<std::string> columns;  ///< of the dataset, to take of the k rows
  bool with_row_id = false;
};

/// With an index:
///
///   Project <- Take <- Sort(k) <- Union <- Refine <- Sort(k * refine_factor) <- ANNSubIndex
///                                     |                     <- ANNIvfPartition, the filter's plan
///                                     <- Sort(k) <- Project <- KNNVectorDistance <- DatasetScan
///
/// Refine scores all rows when a refine is asked for or un-indexed fragments are merged, only the
/// unreached ones when there is a filter, and is left out otherwise. Union and the Sort above it
/// are there only with un-indexed fragments. Without an index the last line alone feeds Take.
///
/// For a multivector column MultivectorScoring takes the place of ANNSubIndex, with one search of
/// 10 k index entries for each query vector.
///
/// The plan's columns: `columns`, `_distance`, and `_rowid` when asked for; one batch, best row
/// first, none without a row.
arrow::Result<OperatorPtr> MakeNearestPlan(std::shared_ptr<dataset::Dataset> dataset,
                                           const NearestRequest& request);

}  // namespace kinjo::exec
