#include "exec/operators/filter_operator.h"

#include "arrow/array.h"
#include "exec/operators/row_gather.h"

namespace kinjo::exec {

class FilterOperator::Stream final : public BatchStream {
 public:
  Stream(const predicate::Predicate& predicate, std::unique_ptr<BatchStream> input)
      : predicate_(predicate), input_(std::move(input)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_ASSIGN_OR_RAISE(auto batch, input_->Next());
      if (batch == nullptr) return nullptr;
      ARROW_ASSIGN_OR_RAISE(const auto passes, predicate_.Evaluate(*batch));
      std::vector<int64_t> rows;
      for (int64_t row = 0; row < batch->num_rows(); ++row) {
        if (passes->IsValid(row) && passes->Value(row)) rows.push_back(row);
      }
      if (rows.empty()) continue;
      if (static_cast<int64_t>(rows.size()) == batch->num_rows()) return batch;
      return GatherRows(*batch, rows);
    }
  }

 private:
  const predicate::Predicate& predicate_;
  std::unique_ptr<BatchStream> input_;
};

arrow::Result<OperatorPtr> FilterOperator::Make(
    OperatorPtr input, std::shared_ptr<const predicate::Predicate> predicate) {
  for (const std::string& column : predicate->columns()) {
    if (input->schema()->GetFieldByName(column) != nullptr) continue;
    return base::NotFound("FilterExec node: the input has no column \"", column, "\" for ",
                          predicate->text());
  }
  return OperatorPtr(new FilterOperator(std::move(input), std::move(predicate)));
}

arrow::Result<OperatorPtr> FilterOperator::WithNewInputs(std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 1, "FilterExec node must have exactly one child"));
  return Make(std::move(inputs[0]), predicate_);
}

PlanNode FilterOperator::Describe() const {
  PlanNode node{.name = "Filter"};
  node.fields = {{"predicate", predicate_->text()}};
  return node;
}

Statistics FilterOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  const Estimate input_rows = input_->statistics().num_rows;
  if (input_rows.known()) statistics.num_rows = Estimate::Inexact(input_rows.value);
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> FilterOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*predicate_, std::move(input));
}

}  // namespace kinjo::exec
