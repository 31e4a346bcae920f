#include "exec/operators/operator.h"

#include <chrono>
#include <cstdio>
#include <utility>

namespace kinjo::exec {

namespace {

/// Counts the rows that pass, and the time of an operator without that of its inputs.
class MeteredStream final : public BatchStream {
 public:
  MeteredStream(std::unique_ptr<BatchStream> stream, PlanRun* run, OperatorMetrics* metrics)
      : stream_(std::move(stream)), run_(run), metrics_(metrics) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_RETURN_NOT_OK(run_->cancel().Check());
    const PlanRun::OwnTime timer(run_, metrics_);
    ARROW_ASSIGN_OR_RAISE(auto batch, stream_->Next());
    if (batch != nullptr) metrics_->output_rows += batch->num_rows();
    return batch;
  }

 private:
  std::unique_ptr<BatchStream> stream_;
  PlanRun* run_;
  OperatorMetrics* metrics_;
};

std::string Seconds(int64_t nanoseconds) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.6fs", static_cast<double>(nanoseconds) * 1e-9);
  return text;
}

PlanNode::Entries MetricEntries(const OperatorMetrics& metrics) {
  PlanNode::Entries entries = {{"output_rows", base::Concat(metrics.output_rows)},
                               {"elapsed_compute", Seconds(metrics.elapsed_compute_ns)}};
  for (const auto& [name, count] : metrics.counts) entries.emplace_back(name, base::Concat(count));
  return entries;
}

}  // namespace

arrow::Result<std::unique_ptr<BatchStream>> Operator::Open(PlanRun* run) const {
  OperatorMetrics* metrics = run->MetricsOf(this);
  const PlanRun::OwnTime timer(run, metrics);
  ARROW_ASSIGN_OR_RAISE(auto stream, OpenStream(run, metrics));
  return std::make_unique<MeteredStream>(std::move(stream), run, metrics);
}

arrow::Status CheckInputCount(const std::vector<OperatorPtr>& inputs, size_t count,
                              const std::string& message) {
  if (inputs.size() == count) return arrow::Status::OK();
  return base::Invalid(message, "; it was given ", inputs.size());
}

PlanNode DescribePlan(const Operator& root, const PlanRun* run) {
  PlanNode node = root.Describe();
  if (run != nullptr) {
    const OperatorMetrics* metrics = run->FindMetrics(&root);
    if (metrics != nullptr) node.metrics = MetricEntries(*metrics);
  }
  for (const OperatorPtr& input : root.inputs()) node.inputs.push_back(DescribePlan(*input, run));
  return node;
}

arrow::Result<arrow::RecordBatchVector> CollectBatches(const Operator& root, PlanRun* run) {
  ARROW_ASSIGN_OR_RAISE(const auto stream, root.Open(run));
  arrow::RecordBatchVector batches;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(auto batch, stream->Next());
    if (batch == nullptr) return batches;
    batches.push_back(std::move(batch));
  }
}

}  // namespace kinjo::exec
