// The live rows of a dataset, or of some of its fragments, as the source of a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "exec/operators/operator.h"

namespace kinjo::exec {

/// What to scan.
struct DatasetScanOptions {
  std::vector<std::string> columns;  ///< top-level names, in output order
  bool with_row_id = false;          ///< `_rowid` (uint64) as the last column
  /// Fragments to read; nothing = all.
  std::optional<std::vector<uint64_t>> fragment_ids;
  /// Rows to keep; null = all.
  std::shared_ptr<const dataset::RowMask> mask;
};

/// Emits the rows in the snapshot's order, a batch without rows never.
class DatasetScanOperator final : public Operator {
 public:
  /// A column or fragment that the dataset doesn't have is `not_found`.
  static arrow::Result<OperatorPtr> Make(std::shared_ptr<dataset::Dataset> dataset,
                                         DatasetScanOptions options);

  std::string name() const override { return "DatasetScanExec"; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::vector<OperatorPtr> inputs() const override { return {}; }
  arrow::Result<OperatorPtr> WithNewInputs(std::vector<OperatorPtr> inputs) const override;
  PlanNode Describe() const override;
  /// The number of live rows, exact.
  Statistics statistics() const override;

 protected:
  arrow::Result<std::unique_ptr<BatchStream>> OpenStream(PlanRun* run,
                                                         OperatorMetrics* metrics) const override;

 private:
  class Stream;

  DatasetScanOperator(std::shared_ptr<dataset::Dataset> dataset, DatasetScanOptions options,
                      std::shared_ptr<arrow::Schema> schema)
      : dataset_(std::move(dataset)), options_(std::move(options)), schema_(std::move(schema)) {}

  std::shared_ptr<dataset::Dataset> dataset_;
  DatasetScanOptions options_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace kinjo::exec
