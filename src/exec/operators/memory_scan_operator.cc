#include "exec/operators/memory_scan_operator.h"

#include "arrow/array.h"

namespace kinjo::exec {

class MemoryScanOperator::Stream final : public BatchStream {
 public:
  explicit Stream(const arrow::RecordBatchVector& batches) : batches_(batches) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (next_ == batches_.size()) return nullptr;
    return batches_[next_++];
  }

 private:
  const arrow::RecordBatchVector& batches_;
  size_t next_ = 0;
};

arrow::Result<OperatorPtr> MemoryScanOperator::Make(std::shared_ptr<arrow::Schema> schema,
                                                    arrow::RecordBatchVector batches) {
  for (const auto& batch : batches) {
    if (batch->schema()->Equals(*schema, /*check_metadata=*/false)) continue;
    return base::Invalid("MemoryScanExec node: a batch has the schema ",
                         batch->schema()->ToString(), ", not ", schema->ToString());
  }
  return OperatorPtr(new MemoryScanOperator(std::move(schema), std::move(batches)));
}

arrow::Result<OperatorPtr> MemoryScanOperator::WithNewInputs(
    std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 0, "MemoryScanExec node does not accept children"));
  return shared_from_this();
}

PlanNode MemoryScanOperator::Describe() const {
  PlanNode node{.name = "MemoryScan"};
  node.fields = {{"batches", base::Concat(batches_.size())},
                 {"rows", base::Concat(statistics().num_rows.value)}};
  return node;
}

Statistics MemoryScanOperator::statistics() const {
  Statistics statistics;
  statistics.num_rows = Estimate::Exact(0);
  statistics.null_counts.assign(static_cast<size_t>(schema_->num_fields()), Estimate::Exact(0));
  for (const auto& batch : batches_) {
    statistics.num_rows.value += batch->num_rows();
    for (int i = 0; i < batch->num_columns(); ++i) {
      statistics.null_counts[i].value += batch->column(i)->null_count();
    }
  }
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> MemoryScanOperator::OpenStream(
    PlanRun* /*run*/, OperatorMetrics* /*metrics*/) const {
  return std::make_unique<Stream>(batches_);
}

}  // namespace kinjo::exec
