// The operator KNNVectorDistance: the exact distance of one query to every row of its input, as a
// column.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Emits the input's columns, without one named `_distance`, and then `_distance` (float32,
/// nullable): null for a null vector, NaN for one that can't match (an element that is null or not
/// finite; for cosine the zero vector) and for a query that can't. Empty batches are skipped.
class KnnVectorDistanceOperator final : public Operator {
 public:
  /// Uses the column, vector and metric of `query`. The column must be in the input's schema and a
  /// vector column, as wide as the query.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input, VectorQuery query);

  std::string name() const override { return "KNNVectorDistanceExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::vector<OperatorPtr> inputs() const override { return {input_}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  /// The input's rows; as many null distances as there are null vectors.
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  KnnVectorDistanceOperator(OperatorPtr input, VectorQuery query,
                            std::shared_ptr<arrow::Schema> schema)
      : input_(std::move(input)), query_(std::move(query)), schema_(std::move(schema)) {}

  OperatorPtr input_;
  VectorQuery query_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace kinjo::exec
