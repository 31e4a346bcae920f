// The operator Sort: the k best rows of its input under the one total order, distance and then row
// address.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Emits the input's columns: one batch, best row first; none without a row. Rows without a
/// distance (null, NaN) and rows outside of the range are dropped before the cut to k.
class TopKOperator final : public Operator {
 public:
  /// The input needs `_distance` and `_rowid`; k is at least 1. `dataset` tells where the rows are.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input,
                                         std::shared_ptr<dataset::Dataset> dataset, int64_t k,
                                         std::optional<DistanceRange> range = {});

  std::string name() const override { return "SortExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return input_->schema(); }
  std::vector<OperatorPtr> inputs() const override { return {input_}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  TopKOperator(OperatorPtr input, std::shared_ptr<dataset::Dataset> dataset, int64_t k,
               std::optional<DistanceRange> range)
      : input_(std::move(input)), dataset_(std::move(dataset)), k_(k), range_(range) {}

  OperatorPtr input_;
  std::shared_ptr<dataset::Dataset> dataset_;
  int64_t k_;
  std::optional<DistanceRange> range_;
};

}  // namespace kinjo::exec
