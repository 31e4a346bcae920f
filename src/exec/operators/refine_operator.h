// The operator Refine: gives rows that a search found their exact distances, and keeps the k best.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "exec/operators/operator.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

/// Which rows get an exact distance. The others keep theirs.
enum class RefineScope : uint8_t {
  kAll,
  kUnreached,  ///< those at +inf: rows that a filter passes and no probe reached
};

/// Emits NeighborSchema(): one batch of the query's k best rows, best first; none without a row. A
/// row that comes more than once counts once. The vectors are read in address order, a few thousand
/// rows at a time. Rows whose vector can't match are dropped, and so is what lies outside of the
/// query's distance range.
class RefineOperator final : public Operator {
 public:
  /// The input needs `_distance` and `_rowid`; the query must fit its column in the dataset.
  static arrow::Result<OperatorPtr> Make(OperatorPtr input,
                                         std::shared_ptr<dataset::Dataset> dataset,
                                         VectorQuery query, RefineScope scope);

  std::string name() const override { return "RefineExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return NeighborSchema(); }
  std::vector<OperatorPtr> inputs() const override { return {input_}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  RefineOperator(OperatorPtr input, std::shared_ptr<dataset::Dataset> dataset, VectorQuery query,
                 RefineScope scope)
      : input_(std::move(input)),
        dataset_(std::move(dataset)),
        query_(std::move(query)),
        scope_(scope) {}

  OperatorPtr input_;
  std::shared_ptr<dataset::Dataset> dataset_;
  VectorQuery query_;
  RefineScope scope_;
};

}  // namespace kinjo::exec
