#include "exec/operators/refine_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/operators/exact_distances.h"
#include "exec/operators/neighbor_batch.h"
#include "kernels/top_k.h"

namespace kinjo::exec {

namespace {

/// Rows whose vectors are read at once.
constexpr size_t kRowsPerTake = 4096;

}  // namespace

class RefineOperator::Stream final : public BatchStream {
 public:
  Stream(const RefineOperator& op, PlanRun* run, OperatorMetrics* metrics,
         std::unique_ptr<BatchStream> input, ExactDistances distances)
      : op_(op),
        run_(run),
        metrics_(metrics),
        input_(std::move(input)),
        distances_(std::move(distances)),
        best_(op.query_.k) {
    metrics_->Add(kRowsRefined, 0);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (done_) return nullptr;
    done_ = true;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(const auto batch, input_->Next());
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(Sort(*batch));
    }
    std::sort(unscored_.begin(), unscored_.end());
    unscored_.erase(std::unique(unscored_.begin(), unscored_.end()), unscored_.end());
    const std::span<const dataset::RowAddress> rows(unscored_);
    for (size_t first = 0; first < rows.size(); first += kRowsPerTake) {
      ARROW_RETURN_NOT_OK(run_->cancel().Check());
      ARROW_RETURN_NOT_OK(Score(rows.subspan(first, std::min(kRowsPerTake, rows.size() - first))));
    }
    const std::vector<kernels::Neighbor> neighbors = best_.TakeSorted();
    if (neighbors.empty()) return nullptr;
    return MakeNeighborBatch(*op_.dataset_, neighbors);
  }

 private:
  /// Parts what needs a distance from what has one.
  arrow::Status Sort(const arrow::RecordBatch& batch) {
    ARROW_ASSIGN_OR_RAISE(const auto neighbors, ReadNeighbors(*op_.dataset_, batch));
    for (const kernels::Neighbor& neighbor : neighbors) {
      if (op_.scope_ == RefineScope::kAll || std::isinf(neighbor.distance)) {
        unscored_.push_back(neighbor.address);
      } else {
        Keep(neighbor);
      }
    }
    return arrow::Status::OK();
  }

  arrow::Status Score(std::span<const dataset::RowAddress> rows) {
    ARROW_ASSIGN_OR_RAISE(const auto taken, op_.dataset_->Take({op_.query_.column}, rows));
    ARROW_ASSIGN_OR_RAISE(const auto distances,
                          distances_.Score(taken->column(0), metrics_->Get(kRowsRefined), run_));
    metrics_->Add(kRowsRefined, static_cast<int64_t>(rows.size()));
    for (size_t i = 0; i < rows.size(); ++i) Keep({distances[i], rows[i]});
    return arrow::Status::OK();
  }

  void Keep(const kernels::Neighbor& neighbor) {
    const DistanceRange range = op_.query_.range();
    // Written so that NaN is dropped too.
    if (neighbor.distance >= range.lower && neighbor.distance <= range.maximum) {
      best_.Push(neighbor);
    }
  }

  const RefineOperator& op_;
  PlanRun* run_;
  OperatorMetrics* metrics_;
  std::unique_ptr<BatchStream> input_;
  ExactDistances distances_;
  kernels::TopK best_;
  std::vector<dataset::RowAddress> unscored_;
  bool done_ = false;
};

arrow::Result<OperatorPtr> RefineOperator::Make(OperatorPtr input,
                                                std::shared_ptr<dataset::Dataset> dataset,
                                                VectorQuery query, RefineScope scope) {
  ARROW_RETURN_NOT_OK(CheckNeighborColumns(*input->schema(), "RefineExec node", true));
  ARROW_ASSIGN_OR_RAISE(const auto field,
                        FindVectorField(*dataset->arrow_schema(), query.column, dataset->uri()));
  ARROW_RETURN_NOT_OK(CheckQueryFits(query, *field->type()));
  if (query.k < 1) return base::Invalid("RefineExec node: k is ", query.k, ", below 1");
  return OperatorPtr(
      new RefineOperator(std::move(input), std::move(dataset), std::move(query), scope));
}

arrow::Result<OperatorPtr> RefineOperator::WithNewInputs(std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 1, "RefineExec node must have exactly one child"));
  return Make(std::move(inputs[0]), dataset_, query_, scope_);
}

PlanNode RefineOperator::Describe() const {
  PlanNode node{.name = "Refine"};
  node.fields = {{"metric", std::string(kernels::MetricName(query_.metric))},
                 {"k", base::Concat(query_.k)}};
  if (scope_ == RefineScope::kUnreached) node.fields.emplace_back("rows", "unreached");
  return node;
}

Statistics RefineOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  const Estimate input_rows = input_->statistics().num_rows;
  statistics.num_rows =
      Estimate::Inexact(input_rows.known() ? std::min(query_.k, input_rows.value) : query_.k);
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> RefineOperator::OpenStream(
    PlanRun* run, OperatorMetrics* metrics) const {
  const auto type = dataset_->arrow_schema()->GetFieldByName(query_.column)->type();
  const std::string what = base::Concat("column \"", query_.column, "\" of ", dataset_->uri());
  ARROW_ASSIGN_OR_RAISE(auto distances, ExactDistances::Make(query_, *type, what));
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*this, run, metrics, std::move(input), std::move(distances));
}

}  // namespace kinjo::exec
