#include "exec/operators/take_operator.h"

#include <algorithm>

#include "exec/operators/neighbor_batch.h"
#include "exec/operators/row_gather.h"

namespace kinjo::exec {

class TakeOperator::Stream final : public BatchStream {
 public:
  Stream(const TakeOperator& op, OperatorMetrics* metrics, std::unique_ptr<BatchStream> input)
      : op_(op), metrics_(metrics), input_(std::move(input)) {
    metrics_->Add(kRowsTaken, 0);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    ARROW_ASSIGN_OR_RAISE(const auto batch, input_->Next());
    if (batch == nullptr) return nullptr;
    ARROW_ASSIGN_OR_RAISE(const auto addresses, ReadAddresses(*op_.dataset_, *batch));
    std::vector<dataset::RowAddress> distinct = addresses;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    ARROW_ASSIGN_OR_RAISE(const auto taken, op_.dataset_->Take(op_.columns_, distinct));
    metrics_->Add(kRowsTaken, static_cast<int64_t>(distinct.size()));
    std::vector<int64_t> places;
    places.reserve(addresses.size());
    for (const dataset::RowAddress address : addresses) {
      places.push_back(std::lower_bound(distinct.begin(), distinct.end(), address) -
                       distinct.begin());
    }
    ARROW_ASSIGN_OR_RAISE(const auto gathered, GatherRows(*taken, places));
    arrow::ArrayVector columns = batch->columns();
    columns.insert(columns.end(), gathered->columns().begin(), gathered->columns().end());
    return arrow::RecordBatch::Make(op_.schema_, batch->num_rows(), std::move(columns));
  }

 private:
  const TakeOperator& op_;
  OperatorMetrics* metrics_;
  std::unique_ptr<BatchStream> input_;
};

arrow::Result<OperatorPtr> TakeOperator::Make(OperatorPtr input,
                                              std::shared_ptr<dataset::Dataset> dataset,
                                              std::vector<std::string> columns) {
  ARROW_RETURN_NOT_OK(CheckNeighborColumns(*input->schema(), "TakeExec node", false));
  arrow::FieldVector fields = input->schema()->fields();
  for (const std::string& column : columns) {
    auto field = dataset->arrow_schema()->GetFieldByName(column);
    if (field == nullptr) {
      return base::NotFound("TakeExec node: ", dataset->uri(), " has no column \"", column, "\"");
    }
    if (input->schema()->GetFieldByName(column) != nullptr) {
      return base::Invalid("TakeExec node: the input already has a column \"", column, "\"");
    }
    fields.push_back(std::move(field));
  }
  return OperatorPtr(new TakeOperator(std::move(input), std::move(dataset), std::move(columns),
                                      arrow::schema(std::move(fields))));
}

arrow::Result<OperatorPtr> TakeOperator::WithNewInputs(std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 1, "TakeExec node must have exactly one child"));
  return Make(std::move(inputs[0]), dataset_, columns_);
}

PlanNode TakeOperator::Describe() const {
  std::string names;
  for (const std::string& column : columns_) names += (names.empty() ? "" : ", ") + column;
  PlanNode node{.name = "Take"};
  node.fields = {{"columns", "[" + names + "]"}};
  return node;
}

Statistics TakeOperator::statistics() const {
  Statistics statistics = input_->statistics();
  statistics.null_counts.resize(static_cast<size_t>(schema_->num_fields()));
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> TakeOperator::OpenStream(
    PlanRun* run, OperatorMetrics* metrics) const {
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*this, metrics, std::move(input));
}

}  // namespace kinjo::exec
