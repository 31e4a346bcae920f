#include "tabular/lance_source.h"

#include <map>
#include <utility>
#include <vector>

#include "dataset/dataset.h"
#include "tabular/file_identity.h"
#include "tabular/table_files.h"

namespace kinjo::tabular {

namespace {

std::vector<std::string> NamesOf(const arrow::FieldVector& fields) {
  std::vector<std::string> names;
  for (const auto& field : fields) names.push_back(field->name());
  return names;
}

class LanceReader final : public arrow::RecordBatchReader {
 public:
  LanceReader(std::unique_ptr<dataset::Scan> scan, arrow::FieldVector fields)
      : scan_(std::move(scan)), schema_(arrow::schema(fields)), fields_(std::move(fields)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    ARROW_ASSIGN_OR_RAISE(dataset::ScanBatch next, scan_->Next());
    if (next.batch == nullptr) {
      *batch = nullptr;
      return arrow::Status::OK();
    }
    return SelectFields(*next.batch, fields_).Value(batch);
  }

 private:
  std::unique_ptr<dataset::Scan> scan_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::FieldVector fields_;
};

class LanceSource final : public TableSource {
 public:
  LanceSource(std::shared_ptr<dataset::Dataset> dataset, int64_t batch_rows)
      : dataset_(std::move(dataset)),
        schema_(arrow::schema(dataset_->arrow_schema()->fields())),
        batch_rows_(batch_rows) {}

  const std::string& uri() const override { return dataset_->uri(); }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }
  std::optional<int64_t> num_rows() const override {
    return static_cast<int64_t>(dataset_->num_rows());
  }
  std::shared_ptr<dataset::Dataset> dataset() const override { return dataset_; }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    ARROW_ASSIGN_OR_RAISE(arrow::FieldVector fields, FindFields(*schema_, columns, uri()));
    dataset::ScanOptions options;
    options.columns = NamesOf(fields);
    options.batch_rows = batch_rows_;
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<dataset::Scan> scan, dataset_->MakeScan(options));
    return std::make_shared<LanceReader>(std::move(scan), std::move(fields));
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    ARROW_ASSIGN_OR_RAISE(const arrow::FieldVector fields, FindFields(*schema_, columns, uri()));
    std::vector<dataset::RowAddress> addresses;
    addresses.reserve(ordinals.size());
    uint64_t first_row = 0;
    size_t next = 0;
    for (const dataset::FragmentInfo& fragment : dataset_->fragments()) {
      const uint64_t live = fragment.physical_rows - fragment.deleted_rows;
      const std::vector<dataset::RowAddress>* table = nullptr;
      for (; next < ordinals.size() && ordinals[next] < first_row + live; ++next) {
        const uint64_t row = ordinals[next] - first_row;
        if (fragment.deleted_rows == 0) {
          addresses.push_back(fragment.id << 32 | row);
          continue;
        }
        if (table == nullptr) {
          ARROW_ASSIGN_OR_RAISE(table, LiveRows(fragment));
        }
        addresses.push_back((*table)[row]);
      }
      first_row += live;
    }
    if (next < ordinals.size()) {
      return base::Invalid("row ", ordinals[next], " of ", uri(), " was asked for, but it has ",
                           first_row, " rows");
    }
    ARROW_ASSIGN_OR_RAISE(auto rows, dataset_->Take(NamesOf(fields), addresses));
    return SelectFields(*rows, fields);
  }

  arrow::Result<std::vector<Trait>> Identity() const override { return IdentifyDataset(*dataset_); }

 private:
  // The addresses of a fragment's live rows; kept, since Take comes again and again.
  arrow::Result<const std::vector<dataset::RowAddress>*> LiveRows(
      const dataset::FragmentInfo& fragment) {
    const auto known = live_rows_.find(fragment.id);
    if (known != live_rows_.end()) return &known->second;
    dataset::ScanOptions options;  // no columns: only the deletions are looked at
    options.fragment_ids = {{fragment.id}};
    ARROW_ASSIGN_OR_RAISE(std::unique_ptr<dataset::Scan> scan, dataset_->MakeScan(options));
    std::vector<dataset::RowAddress> addresses;
    while (true) {
      ARROW_ASSIGN_OR_RAISE(dataset::ScanBatch batch, scan->Next());
      if (batch.batch == nullptr) break;
      addresses.insert(addresses.end(), batch.addresses.begin(), batch.addresses.end());
    }
    const uint64_t live = fragment.physical_rows - fragment.deleted_rows;
    if (addresses.size() != live) {
      return base::Internal("fragment ", fragment.id, " of ", uri(), " has ", addresses.size(),
                            " live rows instead of ", live);
    }
    return &live_rows_.emplace(fragment.id, std::move(addresses)).first->second;
  }

  const std::shared_ptr<dataset::Dataset> dataset_;
  const std::shared_ptr<arrow::Schema> schema_;
  const int64_t batch_rows_;
  const std::string format_ = "lance";
  std::map<uint64_t, std::vector<dataset::RowAddress>> live_rows_;  // of fragments with deletions
};

}  // namespace

arrow::Result<std::shared_ptr<TableSource>> OpenLanceTable(const std::string& uri,
                                                           std::optional<uint64_t> version,
                                                           int64_t batch_rows) {
  dataset::OpenOptions options;
  options.version = version;
  ARROW_ASSIGN_OR_RAISE(auto dataset, dataset::Dataset::Open(uri, options));
  return std::make_shared<LanceSource>(std::move(dataset), batch_rows);
}

}  // namespace kinjo::tabular
