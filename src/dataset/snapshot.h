// The Dataset behind the interface: one version's manifest, its fragments and its indexes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/base_locations.h"
#include "dataset/dataset.h"
#include "dataset/fragment.h"
#include "dataset/index_list.h"
#include "dataset/kept_partitions.h"
#include "dataset/row_lookup.h"
#include "dataset/scalar_index_list.h"
#include "format/table/manifest.h"
#include "format/table/manifest_names.h"

namespace kinjo::dataset {

/// Immutable but for caches behind locks; thread-safe. Made by Dataset::Open.
class Snapshot final : public Dataset,
                       public KeepsPartitions,
                       public std::enable_shared_from_this<Snapshot> {
 public:
  /// Of the manifest that lies below `root` under `name`. `versions` are those that exist, rising.
  static arrow::Result<std::shared_ptr<Snapshot>> Make(io::Location root,
                                                       const format::ManifestName& name,
                                                       format::Manifest manifest,
                                                       std::vector<uint64_t> versions,
                                                       std::shared_ptr<io::IoCounters> counters);

  const std::string& uri() const override { return locations_.root().uri; }
  uint64_t version() const override { return manifest_.version; }
  std::vector<uint64_t> versions() const override { return versions_; }
  arrow::Result<std::vector<format::Tag>> ListTags() const override {
    return format::ListTags(locations_.root());
  }
  const std::string& data_format_version() const override { return manifest_.data_format; }
  const format::Schema& schema() const override { return manifest_.schema; }
  std::shared_ptr<arrow::Schema> arrow_schema() const override { return arrow_schema_; }
  uint64_t num_rows() const override { return num_rows_; }
  const std::vector<FragmentInfo>& fragments() const override { return fragment_infos_; }
  const io::IoCounters& io_counters() const override { return *counters_; }

  arrow::Result<std::vector<StoredFile>> ListFiles() override;

  arrow::Result<std::unique_ptr<Scan>> MakeScan(const ScanOptions& options) override;
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const RowAddress> addresses) override;

  const std::vector<IndexInfo>& vector_indexes() const override { return indexes_.indexes; }
  arrow::Result<std::shared_ptr<index::IvfSegment>> OpenSegment(const IndexInfo& index,
                                                                size_t segment) override;
  arrow::Result<std::shared_ptr<format::IndexFiles>> OpenIndexFiles(const IndexInfo& index,
                                                                    size_t segment) override;
  KeptPartitions* kept_partitions() const override { return kept_partitions_.get(); }

  const std::vector<ScalarIndexInfo>& scalar_indexes() const override {
    return scalar_indexes_.indexes;
  }
  arrow::Result<std::shared_ptr<ScalarSegment>> OpenScalarSegment(const ScalarIndexInfo& index,
                                                                  size_t segment) override;

  arrow::Status ResolveRowIds(const IndexSegmentInfo& segment, std::span<const uint64_t> row_ids,
                              std::span<RowAddress> addresses) const override;
  arrow::Status RowIds(std::span<const RowAddress> addresses,
                       std::span<uint64_t> row_ids) const override;

 private:
  struct OpenIndex {
    std::mutex mutex;
    std::shared_ptr<index::IvfSegment> segment;
  };

  Snapshot();
  arrow::Status OpenFragments();
  void BuildArrowSchema();
  void KeepCover(const IndexSegmentInfo& segment);
  /// The covered fragments of a segment, as a table. Segments of this snapshot have theirs ready.
  const FragmentTable* CoverOf(const IndexSegmentInfo& segment, FragmentTable* made) const;

  BaseLocations locations_;
  format::Manifest manifest_;  ///< its fragments have moved into `fragments_`
  std::vector<uint64_t> versions_;
  std::shared_ptr<io::IoCounters> counters_;
  const std::shared_ptr<format::PageCache> page_cache_ = std::make_shared<format::PageCache>();
  const std::unique_ptr<KeptPartitions> kept_partitions_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  std::vector<std::unique_ptr<Fragment>> fragments_;  ///< in manifest order
  std::vector<FragmentInfo> fragment_infos_;
  uint64_t num_rows_ = 0;
  FragmentTable table_;
  std::unique_ptr<StableRowIds> stable_ids_;  ///< null without stable row ids
  IndexList indexes_;
  ScalarIndexList scalar_indexes_;
  std::map<std::string, FragmentTable> covers_;    ///< by segment UUID
  std::map<std::string, OpenIndex> open_indexes_;  ///< by segment UUID; entries are fixed
};

/// The schema's fields with these top-level names; an unknown name is `not_found` and lists what
/// there is, a name given twice is `invalid`.
arrow::Result<std::vector<const format::Field*>> FindColumns(const format::Schema& schema,
                                                             const std::string& uri,
                                                             const std::vector<std::string>& names);

/// The Arrow schema of some fields; a type that this build doesn't read is `not_supported`.
arrow::Result<std::shared_ptr<arrow::Schema>> MakeArrowSchema(
    const std::vector<const format::Field*>& fields);

}  // namespace kinjo::dataset
