// Keeps the rows for which a SQL predicate is true.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"
#include "predicate/predicate.h"

namespace kinjo::exec {

/// Emits the input's columns; batches without a row left are skipped. A row whose predicate is
/// unknown (null) doesn't pass.
class FilterOperator final : public Operator {
 public:
  /// A column of the predicate that the input doesn't have is `not_found`.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input,
                                         std::shared_ptr<const predicate::Predicate> predicate);

  std::string name() const override { return "FilterExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return input_->schema(); }
  std::vector<OperatorPtr> inputs() const override { return {input_}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  FilterOperator(OperatorPtr input, std::shared_ptr<const predicate::Predicate> predicate)
      : input_(std::move(input)), predicate_(std::move(predicate)) {}

  OperatorPtr input_;
  std::shared_ptr<const predicate::Predicate> predicate_;
};

}  // namespace kinjo::exec
