// A dataset in memory over random rows: fragments, deletions, row ids that aren't addresses, and an
// index of several segments, some of whose entries are stale.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "index/ivf_segment.h"
#include "tests/oracle/naive_join.h"

namespace kinjo::oracle {

/// Columns `id` (int64, the row's position), `tag` (int64, null every 11th row) and `vec`.
class RandomDataset final : public dataset::Dataset {
 public:
  /// `rows` in the order of their addresses; those of a fragment lie together.
  RandomDataset(std::vector<NaiveRow> rows, std::shared_ptr<arrow::Array> vectors);

  /// Adds the index; segment i has the files[i] and covers fragments[i].
  void AddIndex(const std::string& type, const std::string& metric,
                std::vector<std::shared_ptr<format::IndexFiles>> files,
                const std::vector<std::vector<uint64_t>>& fragments);

  const std::string& uri() const override { return uri_; }
  uint64_t version() const override { return 1; }
  std::vector<uint64_t> versions() const override { return {1}; }
  const std::string& data_format_version() const override { return uri_; }
  const format::Schema& schema() const override { return schema_; }
  std::shared_ptr<arrow::Schema> arrow_schema() const override { return batch_->schema(); }
  uint64_t num_rows() const override;
  const std::vector<dataset::FragmentInfo>& fragments() const override { return fragments_; }
  const io::IoCounters& io_counters() const override { return counters_; }
  arrow::Result<std::unique_ptr<dataset::Scan>> MakeScan(
      const dataset::ScanOptions& options) override;
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns,
      std::span<const dataset::RowAddress> addresses) override;
  const std::vector<dataset::IndexInfo>& vector_indexes() const override { return indexes_; }
  arrow::Result<std::shared_ptr<index::IvfSegment>> OpenSegment(const dataset::IndexInfo& index,
                                                                size_t segment) override;
  arrow::Status ResolveRowIds(const dataset::IndexSegmentInfo& segment,
                              std::span<const uint64_t> row_ids,
                              std::span<dataset::RowAddress> addresses) const override;
  arrow::Status RowIds(std::span<const dataset::RowAddress> addresses,
                       std::span<uint64_t> row_ids) const override;

 private:
  std::string uri_ = "random.lance";
  std::vector<NaiveRow> rows_;
  std::map<uint64_t, size_t> by_address_;
  std::map<uint64_t, size_t> by_row_id_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  format::Schema schema_;
  io::IoCounters counters_;
  std::vector<dataset::FragmentInfo> fragments_;
  std::vector<dataset::IndexInfo> indexes_;
  std::vector<std::shared_ptr<format::IndexFiles>> files_;
};

}  // namespace kinjo::oracle
