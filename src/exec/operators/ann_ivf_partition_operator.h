// The operator ANNIvfPartition: ranks every partition of every segment (delta) of an index for one
// query. One batch a segment, in segment order: the partitions nearest first, the distances to
// their centroids, the segment.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Emits PartitionSchema(); at most maximum_nprobes partitions of a segment. A query that can't
/// match gets none.
class AnnIvfPartitionOperator final : public Operator {
 public:
  /// No UUID and one that no index of the dataset has are `not_found`.
  static arrow::Result<OperatorPtr> Make(std::shared_ptr<dataset::Dataset> dataset,
                                         const std::vector<std::string>& index_uuids,
                                         VectorQuery query);

  std::string name() const override { return "ANNIVFPartitionExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return PartitionSchema(); }
  std::vector<OperatorPtr> inputs() const override { return {}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;
  struct Segment {
    const dataset::IndexInfo* index;  // of the dataset
    size_t ordinal;
    const std::string& uuid() const { return index->segments[ordinal].uuid; }
  };

  AnnIvfPartitionOperator(std::shared_ptr<dataset::Dataset> dataset, VectorQuery query,
                          std::vector<Segment> segments)
      : dataset_(std::move(dataset)), query_(std::move(query)), segments_(std::move(segments)) {}

  std::shared_ptr<dataset::Dataset> dataset_;
  VectorQuery query_;
  std::vector<Segment> segments_;
};

}  // namespace kinjo::exec
