#include "join/right_side.h"

#include <algorithm>

#include "io/random_reader.h"
#include "join/table_scan.h"
#include "tabular/file_identity.h"

namespace kinjo::join {

namespace {

class DatasetSide final : public RightSide {
 public:
  explicit DatasetSide(std::shared_ptr<dataset::Dataset> dataset) : dataset_(std::move(dataset)) {}

  const std::string& uri() const override { return dataset_->uri(); }
  std::string format() const override { return "lance"; }
  std::shared_ptr<arrow::Schema> schema() const override { return dataset_->arrow_schema(); }
  std::optional<int64_t> num_rows() const override {
    return static_cast<int64_t>(dataset_->num_rows());
  }
  std::shared_ptr<dataset::Dataset> dataset() const override { return dataset_; }

  arrow::Result<std::unique_ptr<dataset::Scan>> ScanColumns(
      const std::vector<std::string>& columns,
      const std::optional<std::vector<uint64_t>>& fragment_ids, int64_t batch_rows,
      const std::shared_ptr<const dataset::RowMask>& rows) override {
    return dataset_->MakeScan(
        {.columns = columns, .fragment_ids = fragment_ids, .batch_rows = batch_rows, .rows = rows});
  }
  arrow::Result<dataset::FilterAnswer> EvaluateFilter(const predicate::Predicate& filter,
                                                      base::ThreadPool* pool,
                                                      const base::CancelToken& cancel) override {
    return dataset::EvaluateFilter(dataset_.get(), filter, pool, cancel);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> addresses) override {
    return dataset_->Take(columns, addresses);
  }
  arrow::Status RowIds(std::span<const uint64_t> addresses,
                       std::span<uint64_t> row_ids) const override {
    return dataset_->RowIds(addresses, row_ids);
  }
  arrow::Result<std::vector<tabular::Trait>> Identity() const override {
    return tabular::IdentifyDataset(*dataset_);
  }
  int64_t requests() const override {
    return static_cast<int64_t>(dataset_->io_counters().requests.load());
  }
  int64_t bytes_read() const override {
    return static_cast<int64_t>(dataset_->io_counters().bytes_read.load());
  }
  int64_t read_ns() const override {
    return static_cast<int64_t>(dataset_->io_counters().read_ns.load());
  }

 private:
  std::shared_ptr<dataset::Dataset> dataset_;
};

class TableSide final : public RightSide {
 public:
  explicit TableSide(std::shared_ptr<tabular::TableSource> source) : source_(std::move(source)) {}

  const std::string& uri() const override { return source_->uri(); }
  std::string format() const override { return source_->format(); }
  std::shared_ptr<arrow::Schema> schema() const override { return source_->schema(); }
  std::optional<int64_t> num_rows() const override { return source_->num_rows(); }
  std::shared_ptr<dataset::Dataset> dataset() const override { return nullptr; }
  const tabular::TableSource* table() const override { return source_.get(); }

  arrow::Result<std::unique_ptr<dataset::Scan>> ScanColumns(
      const std::vector<std::string>& columns, const std::optional<std::vector<uint64_t>>&,
      int64_t batch_rows, const std::shared_ptr<const dataset::RowMask>& rows) override {
    ARROW_ASSIGN_OR_RAISE(auto reader, source_->Read(columns));
    return MakeTableScan(std::move(reader), batch_rows, rows);
  }
  arrow::Result<dataset::FilterAnswer> EvaluateFilter(const predicate::Predicate& filter,
                                                      base::ThreadPool* pool,
                                                      const base::CancelToken& cancel) override {
    return FilterTable(source_.get(), filter, pool, cancel);
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> addresses) override {
    return source_->Take(columns, addresses);
  }
  arrow::Status RowIds(std::span<const uint64_t> addresses,
                       std::span<uint64_t> row_ids) const override {
    std::copy(addresses.begin(), addresses.end(), row_ids.begin());
    return arrow::Status::OK();
  }
  arrow::Result<std::vector<tabular::Trait>> Identity() const override {
    return source_->Identity();
  }
  int64_t requests() const override { return 0; }
  int64_t bytes_read() const override { return 0; }

 private:
  std::shared_ptr<tabular::TableSource> source_;
};

bool EndsWith(const std::string& text, const std::string& ending) {
  return text.size() >= ending.size() &&
         text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

/// True when the folder `_versions` lies at `uri`, or its name says that it should.
bool LooksLikeDataset(const std::string& uri) {
  if (EndsWith(uri, ".lance") || EndsWith(uri, ".lance/")) return true;
  const auto location = io::ResolveUri(uri);
  if (!location.ok()) return false;
  const auto info = location->file_system->GetFileInfo(io::Child(*location, "_versions").path);
  return info.ok() && info->type() == arrow::fs::FileType::Directory;
}

}  // namespace

std::unique_ptr<RightSide> MakeDatasetSide(std::shared_ptr<dataset::Dataset> dataset) {
  return std::make_unique<DatasetSide>(std::move(dataset));
}

std::unique_ptr<RightSide> MakeTableSide(std::shared_ptr<tabular::TableSource> source) {
  return std::make_unique<TableSide>(std::move(source));
}

arrow::Status RequireNoVersion(const JoinOptions& options, const std::string& uri) {
  if (!options.right_tag.empty()) {
    return base::Invalid("right_tag = ", options.right_tag,
                         " needs a Lance dataset on the right side, but ", uri, " is none");
  }
  if (options.right_version.has_value()) {
    return base::Invalid("right_version = ", *options.right_version,
                         " needs a Lance dataset on the right side, but ", uri, " is none");
  }
  return arrow::Status::OK();
}

arrow::Result<std::unique_ptr<RightSide>> OpenRightSide(const std::string& uri,
                                                        const JoinOptions& options) {
  if (LooksLikeDataset(uri)) {
    ARROW_ASSIGN_OR_RAISE(
        auto dataset,
        dataset::Dataset::Open(uri, {.version = options.right_version, .tag = options.right_tag}));
    return MakeDatasetSide(std::move(dataset));
  }
  ARROW_RETURN_NOT_OK(RequireNoVersion(options, uri));
  ARROW_ASSIGN_OR_RAISE(auto source, tabular::OpenTable(uri, {.batch_rows = kScanBatchRows}));
  return MakeTableSide(std::move(source));
}

}  // namespace kinjo::join
