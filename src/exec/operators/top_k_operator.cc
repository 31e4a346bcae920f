#include "exec/operators/top_k_operator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "exec/operators/neighbor_batch.h"
#include "exec/operators/row_gather.h"
#include "kernels/top_k.h"

namespace kinjo::exec {

namespace {

/// Rows that are gathered beyond k before the worst of them are dropped.
constexpr size_t kSpareRows = 8192;

/// A row, and where it lies among the batches kept.
struct Row {
  kernels::Neighbor neighbor;
  int64_t place;

  friend bool operator<(const Row& a, const Row& b) {
    if (a.neighbor < b.neighbor || b.neighbor < a.neighbor) return a.neighbor < b.neighbor;
    return a.place < b.place;
  }
};

}  // namespace

class TopKOperator::Stream final : public BatchStream {
 public:
  Stream(const TopKOperator& op, PlanRun* run, std::unique_ptr<BatchStream> input)
      : op_(op), run_(run), input_(std::move(input)) {}

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (done_) return nullptr;
    done_ = true;
    while (true) {
      ARROW_RETURN_NOT_OK(run_->cancel().Check());
      ARROW_ASSIGN_OR_RAISE(const auto batch, input_->Next());
      if (batch == nullptr) break;
      ARROW_RETURN_NOT_OK(Add(*batch));
    }
    if (rows_.empty()) return nullptr;
    ARROW_RETURN_NOT_OK(KeepBest());
    return batches_[0];
  }

 private:
  arrow::Status Add(const arrow::RecordBatch& batch) {
    ARROW_ASSIGN_OR_RAISE(const auto neighbors, ReadNeighbors(*op_.dataset_, batch));
    const DistanceRange range = op_.range_.value_or(DistanceRange());
    std::vector<int64_t> kept;
    for (size_t i = 0; i < neighbors.size(); ++i) {
      const float distance = neighbors[i].distance;
      // Written so that NaN is dropped too.
      if (!(distance >= range.lower && distance <= range.maximum)) continue;
      if (bounded_ && !(neighbors[i] < bound_)) continue;
      rows_.push_back({neighbors[i], num_kept_ + static_cast<int64_t>(kept.size())});
      kept.push_back(static_cast<int64_t>(i));
    }
    if (kept.empty()) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(auto gathered, GatherRows(batch, kept));
    batches_.push_back(std::move(gathered));
    num_kept_ += static_cast<int64_t>(kept.size());
    if (rows_.size() < static_cast<size_t>(op_.k_) + kSpareRows) return arrow::Status::OK();
    return KeepBest();
  }

  /// Leaves one batch: the best k rows so far, in order.
  arrow::Status KeepBest() {
    std::sort(rows_.begin(), rows_.end());
    if (rows_.size() > static_cast<size_t>(op_.k_)) rows_.resize(static_cast<size_t>(op_.k_));
    if (rows_.size() == static_cast<size_t>(op_.k_)) {
      bounded_ = true;
      bound_ = rows_.back().neighbor;
    }
    std::vector<int64_t> places;
    places.reserve(rows_.size());
    for (Row& row : rows_) {
      places.push_back(row.place);
      row.place = static_cast<int64_t>(places.size()) - 1;
    }
    ARROW_ASSIGN_OR_RAISE(const auto all, arrow::ConcatenateRecordBatches(batches_));
    ARROW_ASSIGN_OR_RAISE(auto best, GatherRows(*all, places));
    batches_ = {std::move(best)};
    num_kept_ = batches_[0]->num_rows();
    return arrow::Status::OK();
  }

  const TopKOperator& op_;
  PlanRun* run_;
  std::unique_ptr<BatchStream> input_;
  bool done_ = false;
  std::vector<Row> rows_;
  arrow::RecordBatchVector batches_;  // hold the rows, one after another
  int64_t num_kept_ = 0;
  bool bounded_ = false;
  kernels::Neighbor bound_{};  // the k-th best so far
};

arrow::Result<OperatorPtr> TopKOperator::Make(OperatorPtr input,
                                              std::shared_ptr<dataset::Dataset> dataset, int64_t k,
                                              std::optional<DistanceRange> range) {
  ARROW_RETURN_NOT_OK(CheckNeighborColumns(*input->schema(), "SortExec node", true));
  if (k < 1) return base::Invalid("SortExec node: k is ", k, ", below 1");
  return OperatorPtr(new TopKOperator(std::move(input), std::move(dataset), k, range));
}

arrow::Result<OperatorPtr> TopKOperator::WithNewInputs(std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 1, "SortExec node must have exactly one child"));
  return Make(std::move(inputs[0]), dataset_, k_, range_);
}

PlanNode TopKOperator::Describe() const {
  PlanNode node{.name = "Sort"};
  node.fields = {{"fetch", base::Concat(k_)}, {"order", "[_distance, row address]"}};
  if (range_.has_value()) {
    const float upper = std::nextafter(range_->maximum, std::numeric_limits<float>::infinity());
    node.fields.emplace_back("distance_range", base::Concat("[", range_->lower, ", ", upper, ")"));
  }
  return node;
}

Statistics TopKOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema()->num_fields());
  const Estimate input_rows = input_->statistics().num_rows;
  statistics.num_rows = Estimate::Inexact(input_rows.known() ? std::min(k_, input_rows.value) : k_);
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> TopKOperator::OpenStream(
    PlanRun* run, OperatorMetrics* /*metrics*/) const {
  ARROW_ASSIGN_OR_RAISE(auto input, input_->Open(run));
  return std::make_unique<Stream>(*this, run, std::move(input));
}

}  // namespace kinjo::exec
