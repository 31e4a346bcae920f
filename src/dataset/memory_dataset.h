// A dataset held in memory, for tests of the rooms above: one batch cut into fragments, deletions,
// row ids that needn't be addresses, and IVF_FLAT and IVF_PQ segments over given centroids.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "arrow/compute/api_vector.h"
#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "index/ivf_segment.h"
#include "index/memory_index_files.h"

namespace kinjo::dataset {

inline std::shared_ptr<arrow::RecordBatch> SelectByName(const arrow::RecordBatch& batch,
                                                        const std::vector<std::string>& names) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const std::string& name : names) {
    fields.push_back(batch.schema()->GetFieldByName(name));
    arrays.push_back(batch.GetColumnByName(name));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), batch.num_rows(), arrays);
}

inline std::shared_ptr<arrow::RecordBatch> TakeRows(const arrow::RecordBatch& batch,
                                                    const std::vector<int64_t>& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  const arrow::Int64Array indices(count, arrow::Buffer::Wrap(rows));
  arrow::ArrayVector arrays;
  for (const auto& column : batch.columns()) {
    arrays.push_back(arrow::compute::Take(*column, indices).ValueOrDie());
  }
  return arrow::RecordBatch::Make(batch.schema(), count, arrays);
}

/// Batches of some rows, a few at a time, and their addresses.
class MemoryScan final : public Scan {
 public:
  MemoryScan(std::shared_ptr<arrow::RecordBatch> batch, std::vector<int64_t> rows,
             std::vector<uint64_t> addresses)
      : batch_(std::move(batch)), rows_(std::move(rows)), addresses_(std::move(addresses)) {}

  arrow::Result<ScanBatch> Next() override {
    constexpr size_t kRowsAtOnce = 37;
    ScanBatch out;
    if (next_ == rows_.size()) return out;
    const size_t end = std::min(next_ + kRowsAtOnce, rows_.size());
    const auto part = [&](const auto& values) {
      return std::vector(values.begin() + static_cast<std::ptrdiff_t>(next_),
                         values.begin() + static_cast<std::ptrdiff_t>(end));
    };
    out.batch = TakeRows(*batch_, part(rows_));
    out.addresses = part(addresses_);
    next_ = end;
    return out;
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<int64_t> rows_;
  std::vector<uint64_t> addresses_;
  size_t next_ = 0;
};

/// Fragments of `fragment_rows` rows. Thread-safe but for what changes it.
class MemoryDataset : public Dataset {
 public:
  MemoryDataset(std::shared_ptr<arrow::RecordBatch> batch, int64_t fragment_rows)
      : batch_(std::move(batch)), fragment_rows_(fragment_rows) {
    for (int64_t row = 0; row < batch_->num_rows(); ++row) {
      if (row % fragment_rows == 0) fragments_.push_back({.id = fragments_.size()});
      ++fragments_.back().physical_rows;
      SetRowId(row, AddressOf(row));
    }
  }

  uint64_t AddressOf(int64_t row) const {
    return (static_cast<uint64_t>(row / fragment_rows_) << 32) |
           static_cast<uint64_t>(row % fragment_rows_);
  }
  int64_t RowOf(uint64_t address) const {
    return static_cast<int64_t>(address >> 32) * fragment_rows_ +
           static_cast<int64_t>(address & 0xffffffff);
  }
  /// As stable row ids would: ids that say nothing about addresses. Before AddIndex.
  void SetRowId(int64_t row, uint64_t id) {
    row_ids_.resize(static_cast<size_t>(batch_->num_rows()));
    row_ids_[row] = id;
    row_of_id_[id] = row;
  }
  void Delete(int64_t row) {
    if (deleted_.insert(row).second) ++fragments_[row / fragment_rows_].deleted_rows;
  }
  bool live(int64_t row) const { return !deleted_.contains(row); }

  /// One segment for each list of fragments, of the rows with a finite vector.
  void AddIndex(const std::string& name, const std::string& column, const std::string& metric,
                const std::vector<std::vector<uint64_t>>& segments,
                const index::FloatVectors& centroids, const std::vector<float>& codebook = {}) {
    IndexInfo info{.name = name,
                   .column = column,
                   .type = codebook.empty() ? "IVF_FLAT" : "IVF_PQ",
                   .metric = metric};
    const auto array = batch_->GetColumnByName(column);
    for (const auto& fragment_ids : segments) {
      std::vector<index::MemoryIndexFiles::Row> rows;
      for (int64_t row = 0; row < batch_->num_rows(); ++row) {
        const uint64_t fragment = AddressOf(row) >> 32;
        if (std::count(fragment_ids.begin(), fragment_ids.end(), fragment) == 0) continue;
        index::FloatVectors vectors;
        AppendVectors(*array, row, &vectors);
        for (auto& vector : vectors) rows.push_back({row_ids_[row], std::move(vector)});
      }
      info.segments.push_back({.uuid = name + "-" + std::to_string(info.segments.size()),
                               .fragment_ids = fragment_ids});
      files_[info.segments.back().uuid] =
          std::make_shared<index::MemoryIndexFiles>(metric, centroids, rows, codebook);
    }
    indexes_.push_back(std::move(info));
  }
  index::MemoryIndexFiles& files(const std::string& uuid) { return *files_.at(uuid); }
  std::vector<IndexInfo>& mutable_indexes() { return indexes_; }

  const std::string& uri() const override { return uri_; }
  uint64_t version() const override { return 1; }
  std::vector<uint64_t> versions() const override { return {1}; }
  const std::string& data_format_version() const override { return uri_; }
  const format::Schema& schema() const override { return schema_; }
  std::shared_ptr<arrow::Schema> arrow_schema() const override { return batch_->schema(); }
  uint64_t num_rows() const override { return row_ids_.size() - deleted_.size(); }
  const std::vector<FragmentInfo>& fragments() const override { return fragments_; }
  const io::IoCounters& io_counters() const override { return counters_; }

  arrow::Result<std::unique_ptr<Scan>> MakeScan(const ScanOptions& options) override {
    num_scans_.fetch_add(1);
    std::vector<int64_t> rows;
    std::vector<uint64_t> addresses;
    for (int64_t row = 0; row < batch_->num_rows(); ++row) {
      const uint64_t address = AddressOf(row);
      const auto& ids = options.fragment_ids;
      if (!live(row) || (options.rows != nullptr && !options.rows->Contains(address))) continue;
      if (ids && std::count(ids->begin(), ids->end(), address >> 32) == 0) continue;
      rows.push_back(row);
      addresses.push_back(address);
    }
    return std::make_unique<MemoryScan>(SelectByName(*batch_, options.columns), std::move(rows),
                                        std::move(addresses));
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const RowAddress> addresses) override {
    if (std::adjacent_find(addresses.begin(), addresses.end(), std::greater_equal<>()) !=
        addresses.end()) {
      return base::Internal("addresses must rise, each once");
    }
    std::vector<int64_t> rows;
    for (const uint64_t address : addresses) rows.push_back(RowOf(address));
    return TakeRows(*SelectByName(*batch_, columns), rows);
  }
  const std::vector<IndexInfo>& vector_indexes() const override { return indexes_; }
  arrow::Result<std::shared_ptr<index::IvfSegment>> OpenSegment(const IndexInfo& index,
                                                                size_t segment) override {
    return index::IvfSegment::Make(files_.at(index.segments[segment].uuid));
  }
  arrow::Status ResolveRowIds(const IndexSegmentInfo& segment, std::span<const uint64_t> row_ids,
                              std::span<RowAddress> addresses) const override {
    for (size_t i = 0; i < row_ids.size(); ++i) {
      const auto found = row_of_id_.find(row_ids[i]);
      addresses[i] = kDeadRow;
      if (found == row_of_id_.end() || !live(found->second)) continue;
      const uint64_t address = AddressOf(found->second);
      const auto& covered = segment.fragment_ids;
      if (std::count(covered.begin(), covered.end(), address >> 32) > 0) addresses[i] = address;
    }
    return arrow::Status::OK();
  }
  arrow::Status RowIds(std::span<const RowAddress> addresses,
                       std::span<uint64_t> row_ids) const override {
    for (size_t i = 0; i < addresses.size(); ++i) row_ids[i] = row_ids_[RowOf(addresses[i])];
    return arrow::Status::OK();
  }

  /// Scans made so far.
  int64_t num_scans() const { return num_scans_.load(); }
  /// Partitions whose codes were read so far, of all indexes.
  int64_t partition_reads() const {
    int64_t reads = 0;
    for (const auto& [uuid, files] : files_) reads += files->reads();
    return reads;
  }

 private:
  /// The finite vectors of a row: its own, or those of its list.
  static void AppendVectors(const arrow::Array& array, int64_t row, index::FloatVectors* out) {
    if (array.IsNull(row)) return;
    if (array.type_id() == arrow::Type::LIST) {
      const auto items = static_cast<const arrow::ListArray&>(array).value_slice(row);
      for (int64_t i = 0; i < items->length(); ++i) AppendVectors(*items, i, out);
      return;
    }
    const auto& lists = static_cast<const arrow::FixedSizeListArray&>(array);
    const auto& values = static_cast<const arrow::FloatArray&>(*lists.values());
    const float* begin = values.raw_values() + lists.value_offset(row);
    const float* end = begin + lists.value_length(row);
    if (std::all_of(begin, end, [](float value) { return std::isfinite(value); })) {
      out->emplace_back(begin, end);
    }
  }

  std::string uri_ = "memory.lance";
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t fragment_rows_;
  std::vector<uint64_t> row_ids_;
  std::unordered_map<uint64_t, int64_t> row_of_id_;
  std::set<int64_t> deleted_;
  format::Schema schema_;
  io::IoCounters counters_;
  std::vector<FragmentInfo> fragments_;
  std::vector<IndexInfo> indexes_;
  std::map<std::string, std::shared_ptr<index::MemoryIndexFiles>> files_;
  std::atomic<int64_t> num_scans_{0};
};

}  // namespace kinjo::dataset
