// The operator MultivectorScoring: joins the hits of several query vectors into one estimate a row.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Each input holds the hits of one query vector (NeighborSchema(), cosine distances; a row may
/// come more than once). Of each input a row counts with its best hit, similarity = 1 - distance; a
/// row that an input lacks counts with the lowest similarity of that input, 0 for an empty one. The
/// distance is the number of inputs less the sum of the similarities.
///
/// Emits NeighborSchema(): one batch of all rows, best first, then by row id; none without a hit.
/// The order of the inputs changes nothing.
class MultivectorScoringOperator final : public Operator {
 public:
  /// Uses k and refine_factor of `query`. No input, and one without the two columns, are `invalid`.
  static arrow::Result<OperatorPtr> Make(std::vector<OperatorPtr> inputs, VectorQuery query);

  std::string name() const override { return "MultivectorScoringExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return NeighborSchema(); }
  std::vector<OperatorPtr> inputs() const override { return inputs_; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override {
    return Make(std::move(inputs), query_);
  }
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  MultivectorScoringOperator(std::vector<OperatorPtr> inputs, VectorQuery query)
      : inputs_(std::move(inputs)), query_(std::move(query)) {}

  std::vector<OperatorPtr> inputs_;
  VectorQuery query_;
};

}  // namespace kinjo::exec
