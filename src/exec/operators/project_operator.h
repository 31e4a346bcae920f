// Some of the input's columns, in a given order.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"

namespace kinjo::exec {

class ProjectOperator final : public Operator {
 public:
  /// A column that the input doesn't have is `not_found`.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input,
                                         const std::vector<std::string>& columns);

  std::string name() const override { return "ProjectExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::vector<OperatorPtr> inputs() const override { return {input_}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;
  bool supports_limit_pushdown() const override { return true; }

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  ProjectOperator(OperatorPtr input, std::vector<int> places, std::shared_ptr<arrow::Schema> schema)
      : input_(std::move(input)), places_(std::move(places)), schema_(std::move(schema)) {}

  OperatorPtr input_;
  std::vector<int> places_;  // of the columns in the input
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace kinjo::exec
