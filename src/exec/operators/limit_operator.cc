#include "exec/operators/limit_operator.h"

#include <algorithm>

namespace kinjo::exec {

class LimitOperator::Stream final : public BatchStream {
 public:
  Stream(int64_t limit, std::unique_ptr<BatchStream> input)
      : left_(limit), input_(std::move(input)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (left_ == 0) return nullptr;
    ARROW_ASSIGN_OR_RAISE(auto batch, input_->Next());
    if (batch == nullptr) return nullptr;
    if (batch->num_rows() > left_) batch = batch->Slice(0, left_);
    left_ -= batch->num_rows();
    return batch;
  }

 private:
  int64_t left_;
  std::unique_ptr<BatchStream> input_;
};

arrow::Result<OperatorPtr> LimitOperator::Make(OperatorPtr input, int64_t limit) {
  if (limit < 0) return base::Invalid("LimitExec node: the limit is ", limit, ", below 0");
  return OperatorPtr(new LimitOperator(std::move(input), limit));
}

arrow::Result<OperatorPtr> LimitOperator::WithNewInputs(std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 1, "LimitExec node must have exactly one child"));
  return Make(std::move(inputs[0]), limit_);
}

PlanNode LimitOperator::Describe() const {
  PlanNode node{.name = "Limit"};
  node.fields = {{"fetch", base::Concat(limit_)}};
  return node;
}

Statistics LimitOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  const Estimate input_rows = input_->statistics().num_rows;
  statistics.num_rows = input_rows.known()
                            ? Estimate{input_rows.kind, std::min(limit_, input_rows.value)}
                            : Estimate::Inexact(limit_);
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> LimitOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(limit_, std::move(input));
}

namespace {

/// `input` with at most `limit` rows.
arrow::Result<OperatorPtr> Limited(OperatorPtr input, int64_t limit) {
  const auto* inner = dynamic_cast<const LimitOperator*>(input.get());
  if (inner != nullptr && inner->limit() <= limit) return input;
  return LimitOperator::Make(std::move(input), limit);
}

}  // namespace

arrow::Result<OperatorPtr> PushLimitsDown(const OperatorPtr& plan) {
  std::vector<OperatorPtr> inputs = plan->inputs();
  const auto* limit = dynamic_cast<const LimitOperator*>(plan.get());
  if (limit != nullptr && inputs[0]->supports_limit_pushdown()) {
    std::vector<OperatorPtr> limited = inputs[0]->inputs();
    for (OperatorPtr& input : limited) {
      ARROW_ASSIGN_OR_RAISE(input, Limited(std::move(input), limit->limit()));
    }
    if (limited != inputs[0]->inputs()) {
      ARROW_ASSIGN_OR_RAISE(inputs[0], inputs[0]->WithNewInputs(std::move(limited)));
    }
  }
  for (OperatorPtr& input : inputs) {
    ARROW_ASSIGN_OR_RAISE(input, PushLimitsDown(input));
  }
  if (inputs == plan->inputs()) return plan;
  return plan->WithNewInputs(std::move(inputs));
}

}  // namespace kinjo::exec
