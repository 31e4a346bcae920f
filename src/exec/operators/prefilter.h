// Which rows a search may return: all, those whose ids a plan emits, or those of a mask that was
// made before. Evaluated once a run and shared read-only, however many operators ask.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "exec/operators/operator.h"

namespace kinjo::exec {

/// Immutable; copies share.
class Prefilter {
 public:
  /// No filter.
  Prefilter() = default;
  /// The rows whose `_rowid` (uint64) the plan emits.
  static arrow::Result<Prefilter> FilteredRowIds(OperatorPtr source);
  /// The rows of a mask; null = no filter.
  static Prefilter Masked(std::shared_ptr<const dataset::RowMask> mask);

  /// The plan that has to run for it; null when there is none.
  const OperatorPtr& source() const { return source_; }
  /// The same kind of filter over another plan. Where no plan runs it stays as it is.
  arrow::Result<Prefilter> WithSource(OperatorPtr source) const;

  /// The live rows that pass; null = there is no filter. Runs the plan when this run hasn't yet.
  arrow::Result<std::shared_ptr<const dataset::RowMask>> Load(const dataset::Dataset& dataset,
                                                              PlanRun* run) const;

 private:
  OperatorPtr source_;
  std::shared_ptr<const dataset::RowMask> mask_;
};

/// The address of each row id's live row; kDeadRow when there is none.
arrow::Result<std::vector<dataset::RowAddress>> FindLiveRows(const dataset::Dataset& dataset,
                                                             const arrow::Array& row_ids);

}  // namespace kinjo::exec
