// The rows of several inputs of one schema, one input after another.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"

namespace kinjo::exec {

class UnionOperator final : public Operator {
 public:
  /// No input, and inputs of different schemas, are `invalid`.
  static arrow::Result<OperatorPtr> Make(std::vector<OperatorPtr> inputs);

  std::string name() const override { return "UnionExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return inputs_[0]->schema(); }
  std::vector<OperatorPtr> inputs() const override { return inputs_; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override {
    return Make(std::move(inputs));
  }
  PlanNode Describe() const override { return PlanNode{.name = "Union"}; }
  Statistics statistics() const override;
  bool supports_limit_pushdown() const override { return true; }

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  explicit UnionOperator(std::vector<OperatorPtr> inputs) : inputs_(std::move(inputs)) {}

  std::vector<OperatorPtr> inputs_;
};

}  // namespace kinjo::exec
