#include "exec/operators/dataset_scan_operator.h"

#include <algorithm>

#include "arrow/array.h"
#include "arrow/builder.h"
#include "exec/operators/vector_query.h"

namespace kinjo::exec {

class DatasetScanOperator::Stream final : public BatchStream {
 public:
  Stream(const DatasetScanOperator& op, OperatorMetrics* metrics,
         std::unique_ptr<dataset::Scan> scan)
      : op_(op), metrics_(metrics), scan_(std::move(scan)) {
    metrics_->Add(kRowsScanned, 0);
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (true) {
      ARROW_ASSIGN_OR_RAISE(dataset::ScanBatch scanned, scan_->Next());
      if (scanned.batch == nullptr) return nullptr;
      metrics_->Add(kRowsScanned, scanned.batch->num_rows());
      if (scanned.batch->num_rows() > 0) return Finish(scanned);
    }
  }

 private:
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Finish(
      const dataset::ScanBatch& scanned) const {
    arrow::ArrayVector columns = scanned.batch->columns();
    if (op_.options_.with_row_id) {
      std::vector<uint64_t> row_ids(scanned.addresses.size());
      ARROW_RETURN_NOT_OK(op_.dataset_->RowIds(scanned.addresses, row_ids));
      arrow::UInt64Builder builder;
      ARROW_RETURN_NOT_OK(builder.AppendValues(row_ids));
      columns.emplace_back();
      ARROW_RETURN_NOT_OK(builder.Finish(&columns.back()));
    }
    return arrow::RecordBatch::Make(op_.schema_, scanned.batch->num_rows(), std::move(columns));
  }

  const DatasetScanOperator& op_;
  OperatorMetrics* metrics_;
  std::unique_ptr<dataset::Scan> scan_;
};

arrow::Result<OperatorPtr> DatasetScanOperator::Make(std::shared_ptr<dataset::Dataset> dataset,
                                                     DatasetScanOptions options) {
  arrow::FieldVector fields;
  for (const std::string& column : options.columns) {
    fields.push_back(dataset->arrow_schema()->GetFieldByName(column));
    if (fields.back() == nullptr) {
      return base::NotFound("DatasetScanExec node: ", dataset->uri(), " has no column \"", column,
                            "\"");
    }
  }
  if (options.with_row_id) fields.push_back(NeighborSchema()->GetFieldByName(kRowIdColumn));
  for (const uint64_t id : options.fragment_ids.value_or(std::vector<uint64_t>())) {
    const auto& fragments = dataset->fragments();
    const bool known = std::any_of(fragments.begin(), fragments.end(),
                                   [&](const auto& fragment) { return fragment.id == id; });
    if (!known) {
      return base::NotFound("DatasetScanExec node: ", dataset->uri(), " has no fragment ", id);
    }
  }
  return OperatorPtr(new DatasetScanOperator(std::move(dataset), std::move(options),
                                             arrow::schema(std::move(fields))));
}

arrow::Result<OperatorPtr> DatasetScanOperator::WithNewInputs(
    std::vector<OperatorPtr> inputs) const {
  ARROW_RETURN_NOT_OK(CheckInputCount(inputs, 0, "DatasetScanExec node does not accept children"));
  return shared_from_this();
}

PlanNode DatasetScanOperator::Describe() const {
  std::string names;
  for (const std::string& column : options_.columns) names += (names.empty() ? "" : ", ") + column;
  PlanNode node{.name = "DatasetScan"};
  node.fields = {{"uri", dataset_->uri()}, {"columns", "[" + names + "]"}};
  if (options_.fragment_ids.has_value()) {
    node.fields.emplace_back("fragments", base::Concat(options_.fragment_ids->size()));
  }
  node.fields.emplace_back("row_id", options_.with_row_id ? "true" : "false");
  if (options_.mask != nullptr) {
    node.fields.emplace_back("passing_rows", base::Concat(options_.mask->count()));
  }
  return node;
}

Statistics DatasetScanOperator::statistics() const {
  Statistics statistics = Statistics::Unknown(schema_->num_fields());
  uint64_t rows = 0;
  for (const dataset::FragmentInfo& fragment : dataset_->fragments()) {
    const auto& wanted = options_.fragment_ids;
    if (wanted && std::find(wanted->begin(), wanted->end(), fragment.id) == wanted->end()) continue;
    rows += options_.mask == nullptr ? fragment.physical_rows - fragment.deleted_rows
                                     : options_.mask->count_in(fragment.id);
  }
  statistics.num_rows = Estimate::Exact(static_cast<int64_t>(rows));
  return statistics;
}

arrow::Result<std::unique_ptr<BatchStream>> DatasetScanOperator::OpenStream(
    PlanRun* /*run*/, OperatorMetrics* metrics) const {
  dataset::ScanOptions options;
  options.columns = options_.columns;
  options.fragment_ids = options_.fragment_ids;
  options.rows = options_.mask;
  ARROW_ASSIGN_OR_RAISE(auto scan, dataset_->MakeScan(options));
  return std::make_unique<Stream>(*this, metrics, std::move(scan));
}

}  // namespace kinjo::exec
