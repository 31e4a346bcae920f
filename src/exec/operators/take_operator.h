// The operator Take: reads further columns of the rows that its input names.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "exec/operators/operator.h"

namespace kinjo::exec {

/// Emits the input's columns and then the columns read, in the input's order of rows. Each batch's
/// distinct rows are read once, in address order.
class TakeOperator final : public Operator {
 public:
  /// The input needs `_rowid`. A column that the dataset doesn't have is `not_found`, one that the
  /// input has already `invalid`.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input,
                                         std::shared_ptr<dataset::Dataset> dataset,
                                         std::vector<std::string> columns);

  std::string name() const override { return "TakeExec"; }
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

  TakeOperator(OperatorPtr input, std::shared_ptr<dataset::Dataset> dataset,
               std::vector<std::string> columns, std::shared_ptr<arrow::Schema> schema)
      : input_(std::move(input)),
        dataset_(std::move(dataset)),
        columns_(std::move(columns)),
        schema_(std::move(schema)) {}

  OperatorPtr input_;
  std::shared_ptr<dataset::Dataset> dataset_;
  std::vector<std::string> columns_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace kinjo::exec
