// The first rows of the input, and how far down a plan a limit may go.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"

namespace kinjo::exec {

/// Emits the input's batches until `limit` rows, the last one cut; the input isn't asked further.
class LimitOperator final : public Operator {
 public:
  /// A negative limit is `invalid`.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input, int64_t limit);

  std::string name() const override { return "LimitExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return input_->schema(); }
  std::vector<OperatorPtr> inputs() const override { return {input_}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

  int64_t limit() const { return limit_; }

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  LimitOperator(OperatorPtr input, int64_t limit) : input_(std::move(input)), limit_(limit) {}

  OperatorPtr input_;
  int64_t limit_;
};

/// The plan with every limit also below the operators that support it (each input of theirs gets
/// one). An operator that needs more rows than it gives, such as the ANN operators,
/// KNNVectorDistance and Sort, never gets a limit below it.
arrow::Result<OperatorPtr> PushLimitsDown(const OperatorPtr& plan);

}  // namespace kinjo::exec
