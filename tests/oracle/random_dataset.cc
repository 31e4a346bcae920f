#include "tests/oracle/random_dataset.h"

#include "arrow/api.h"
#include "dataset/row_mask.h"
#include "join/memory_sides.h"

namespace kinjo::oracle {

namespace {

/// Batches of at most 37 rows.
class RandomScan final : public dataset::Scan {
 public:
  RandomScan(std::shared_ptr<arrow::RecordBatch> batch, std::vector<int64_t> positions,
             std::vector<uint64_t> addresses, int64_t batch_rows)
      : batch_(std::move(batch)),
        positions_(std::move(positions)),
        addresses_(std::move(addresses)),
        batch_rows_(std::min<int64_t>(batch_rows, 37)) {}

  arrow::Result<dataset::ScanBatch> Next() override {
    dataset::ScanBatch out;
    const auto end = static_cast<size_t>(
        std::min(static_cast<int64_t>(next_) + batch_rows_, std::ssize(positions_)));
    if (next_ == end) return out;
    out.batch = join::TakeRows(*batch_, {positions_.begin() + static_cast<int64_t>(next_),
                                         positions_.begin() + static_cast<int64_t>(end)});
    for (; next_ < end; ++next_) out.addresses.push_back(addresses_[next_]);
    return out;
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<int64_t> positions_;
  std::vector<uint64_t> addresses_;
  int64_t batch_rows_;
  size_t next_ = 0;
};

bool Lists(const std::vector<uint64_t>& ids, uint64_t id) {
  return std::count(ids.begin(), ids.end(), id) > 0;
}

}  // namespace

RandomDataset::RandomDataset(std::vector<NaiveRow> rows, std::shared_ptr<arrow::Array> vectors)
    : rows_(std::move(rows)) {
  arrow::Int64Builder tags;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const NaiveRow& row = rows_[i];
    by_address_[row.address] = i;
    by_row_id_[row.row_id] = i;
    if (!(i % 11 == 10 ? tags.AppendNull() : tags.Append(static_cast<int64_t>(i % 7))).ok()) {
      std::abort();
    }
    if (fragments_.empty() || fragments_.back().id != row.fragment) {
      fragments_.push_back({.id = row.fragment});
    }
    ++fragments_.back().physical_rows;
    fragments_.back().deleted_rows += !row.live;
  }
  const auto count = static_cast<int64_t>(rows_.size());
  batch_ = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::int64()), arrow::field("tag", arrow::int64()),
                     arrow::field("vec", vectors->type())}),
      count, {join::MakeIds(count), tags.Finish().ValueOrDie(), vectors});
}

void RandomDataset::AddIndex(const std::string& type, const std::string& metric,
                             std::vector<std::shared_ptr<format::IndexFiles>> files,
                             const std::vector<std::vector<uint64_t>>& fragments) {
  dataset::IndexInfo info{.name = "index", .column = "vec", .type = type, .metric = metric};
  for (size_t i = 0; i < fragments.size(); ++i) {
    info.segments.push_back({.uuid = std::to_string(i), .fragment_ids = fragments[i]});
  }
  indexes_ = {info};
  files_ = std::move(files);
}

uint64_t RandomDataset::num_rows() const {
  return static_cast<uint64_t>(
      std::count_if(rows_.begin(), rows_.end(), [](const NaiveRow& row) { return row.live; }));
}

arrow::Result<std::unique_ptr<dataset::Scan>> RandomDataset::MakeScan(
    const dataset::ScanOptions& options) {
  std::vector<int64_t> positions;
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const NaiveRow& row = rows_[i];
    if (options.fragment_ids.has_value() && !Lists(*options.fragment_ids, row.fragment)) continue;
    if (options.rows != nullptr && !options.rows->Contains(row.address)) continue;
    if (!row.live) continue;
    positions.push_back(static_cast<int64_t>(i));
    addresses.push_back(row.address);
  }
  return std::make_unique<RandomScan>(join::SelectByName(*batch_, options.columns),
                                      std::move(positions), std::move(addresses),
                                      options.batch_rows);
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> RandomDataset::Take(
    const std::vector<std::string>& columns, std::span<const dataset::RowAddress> addresses) {
  std::vector<int64_t> positions;
  for (const uint64_t address : addresses) {
    positions.push_back(static_cast<int64_t>(by_address_.at(address)));
  }
  return join::TakeRows(*join::SelectByName(*batch_, columns), positions);
}

arrow::Result<std::shared_ptr<index::IvfSegment>> RandomDataset::OpenSegment(
    const dataset::IndexInfo&, size_t segment) {
  return index::IvfSegment::Make(files_[segment]);
}

arrow::Status RandomDataset::ResolveRowIds(const dataset::IndexSegmentInfo& segment,
                                           std::span<const uint64_t> row_ids,
                                           std::span<dataset::RowAddress> addresses) const {
  for (size_t i = 0; i < row_ids.size(); ++i) {
    addresses[i] = dataset::kDeadRow;
    const auto found = by_row_id_.find(row_ids[i]);
    if (found == by_row_id_.end()) continue;
    const NaiveRow& row = rows_[found->second];
    if (row.live && Lists(segment.fragment_ids, row.fragment)) addresses[i] = row.address;
  }
  return arrow::Status::OK();
}

arrow::Status RandomDataset::RowIds(std::span<const dataset::RowAddress> addresses,
                                    std::span<uint64_t> row_ids) const {
  for (size_t i = 0; i < addresses.size(); ++i) {
    row_ids[i] = rows_[by_address_.at(addresses[i])].row_id;
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::oracle
