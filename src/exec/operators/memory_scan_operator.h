// Batches held in memory as the source of a plan.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/operators/operator.h"

namespace kinjo::exec {

/// Emits the batches as they are, empty ones too.
class MemoryScanOperator final : public Operator {
 public:
  /// A batch of another schema is `invalid`.
  static arrow::Result<OperatorPtr> Make(std::shared_ptr<arrow::Schema> schema,
                                         arrow::RecordBatchVector batches);

  std::string name() const override { return "MemoryScanExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::vector<OperatorPtr> inputs() const override { return {}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  MemoryScanOperator(std::shared_ptr<arrow::Schema> schema, arrow::RecordBatchVector batches)
      : schema_(std::move(schema)), batches_(std::move(batches)) {}

  std::shared_ptr<arrow::Schema> schema_;
  arrow::RecordBatchVector batches_;
};

}  // namespace kinjo::exec
