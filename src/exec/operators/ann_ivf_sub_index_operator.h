// The operator ANNIvfSubIndex: searches the partitions that ANNIvfPartition ranked, for one query.
// An early search of every segment first; then, while there are too few rows, a late search.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "exec/operators/operator.h"
#include "exec/operators/prefilter.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Emits NeighborSchema(): one batch a partition that holds a row, best first, each with up to
/// k * refine_factor rows. So there may be more rows than that, in no order between partitions.
///
/// - Early: the first minimum_nprobes partitions of each segment.
/// - Late, when all segments together gave fewer than k rows: one further partition a segment and
///   round, until a round ends with min(k, rows that pass the filter), or maximum_nprobes. But when
///   the filter passes at most k rows (and no distance range is asked for), those not found are
///   emitted once at the distance +inf instead, in address order.
class AnnIvfSubIndexOperator final : public Operator {
 public:
  /// `input` is a plan of PartitionSchema(); a missing column is `invalid`. `index` is the index of
  /// `dataset` whose segments the input names.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input,
                                         std::shared_ptr<dataset::Dataset> dataset,
                                         dataset::IndexInfo index, VectorQuery query,
                                         Prefilter prefilter);

  std::string name() const override { return "ANNSubIndexExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return NeighborSchema(); }
  /// The input, and the prefilter's plan when it has one.
  std::vector<OperatorPtr> inputs() const override;
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  AnnIvfSubIndexOperator(OperatorPtr input, std::shared_ptr<dataset::Dataset> dataset,
                         dataset::IndexInfo index, VectorQuery query, Prefilter prefilter)
      : input_(std::move(input)),
        dataset_(std::move(dataset)),
        index_(std::move(index)),
        query_(std::move(query)),
        prefilter_(std::move(prefilter)) {}

  OperatorPtr input_;
  std::shared_ptr<dataset::Dataset> dataset_;
  dataset::IndexInfo index_;
  VectorQuery query_;
  Prefilter prefilter_;
};

}  // namespace kinjo::exec
