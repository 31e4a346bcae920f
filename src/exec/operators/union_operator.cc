#include "exec/operators/union_operator.h"

#include <algorithm>

namespace kinjo::exec {

namespace {

Estimate Sum(const Estimate& a, const Estimate& b) {
  if (!a.known() || !b.known()) return {};
  return {std::min(a.kind, b.kind), a.value + b.value};
}

}  // namespace

/// Opens an input when the one before has ended.
class UnionOperator::Stream final : public BatchStream {
 public:
  Stream(const UnionOperator& op, PlanRun* run) : op_(op), run_(run) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      if (current_ == nullptr) {
        if (next_ == op_.inputs_.size()) return nullptr;
        ARROW_ASSIGN_OR_RAISE(current_, op_.inputs_[next_++]->Open(run_));
      }
      ARROW_ASSIGN_OR_RAISE(auto batch, current_->Next());
      if (batch != nullptr) return batch;
      current_.reset();
    }
  }

 private:
  const UnionOperator& op_;
  PlanRun* run_;
  std::unique_ptr<BatchStream> current_;
  size_t next_ = 0;
};

arrow::Result<OperatorPtr> UnionOperator::Make(std::vector<OperatorPtr> inputs) {
  if (inputs.empty()) return base::Invalid("UnionExec node must have at least one child");
  for (const OperatorPtr& input : inputs) {
    if (input->schema()->Equals(*inputs[0]->schema(), /*check_metadata=*/false)) continue;
    return base::Invalid("UnionExec node: the inputs have different schemas: ",
                         inputs[0]->schema()->ToString(), " and ", input->schema()->ToString());
  }
  return OperatorPtr(new UnionOperator(std::move(inputs)));
}

Statistics UnionOperator::statistics() const {
  Statistics sum = inputs_[0]->statistics();
  for (size_t i = 1; i < inputs_.size(); ++i) {
    const Statistics other = inputs_[i]->statistics();
    sum.num_rows = Sum(sum.num_rows, other.num_rows);
    for (size_t c = 0; c < sum.null_counts.size(); ++c) {
      sum.null_counts[c] = Sum(sum.null_counts[c], other.null_counts[c]);
    }
  }
  return sum;
}

arrow::Result<std::unique_ptr<BatchStream>> UnionOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  return std::make_unique<Stream>(*this, run);
}

}  // namespace kinjo::exec
