#include "dataset/compact.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/cancel_scope.h"
#include "dataset/commit.h"
#include "dataset/dataset.h"
#include "dataset/fragment_deletions.h"
#include "dataset/fragment_writer.h"
#include "dataset/index_entry.h"
#include "dataset/index_remap.h"
#include "dataset/moved_addresses.h"
#include "dataset/moved_rows.h"
#include "dataset/row_progress.h"
#include "format/table/feature_flags.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;
using Fragments = std::vector<proto::DataFragmentMessage>;

// A group never has many more rows: what it takes in memory is bounded by them.
constexpr uint64_t kGroupTargets = 16;

uint64_t DeletedRows(const proto::DataFragmentMessage& fragment) {
  return fragment.deletion_file.has_value() ? fragment.deletion_file->num_deleted_rows : 0;
}

/// Which index segments cover a fragment: fragments of one group have the same, so that a segment
/// covers all rows of a new fragment or none.
std::vector<bool> CoverOf(uint64_t fragment_id, const format::Manifest& manifest) {
  std::vector<bool> covers;
  covers.reserve(manifest.indexes.size());
  for (const format::IndexEntry& index : manifest.indexes) {
    covers.push_back(index.fragments.has_value() &&
                     index.fragments->Contains(static_cast<uint32_t>(fragment_id)));
  }
  return covers;
}

/// Runs of neighbouring fragments that are worth rewriting.
std::vector<Fragments> PlanGroups(const TableVersion& latest, const CompactOptions& options) {
  std::vector<Fragments> groups;
  Fragments group;
  uint64_t rows = 0;
  bool has_deleted = false;
  std::vector<bool> cover;
  const auto end_group = [&] {
    if (group.size() > 1 || has_deleted) groups.push_back(std::move(group));
    group.clear();
    rows = 0;
    has_deleted = false;
  };
  for (const proto::DataFragmentMessage& fragment : latest.messages.manifest.fragments) {
    std::vector<bool> covers = CoverOf(fragment.id, latest.checked);
    if (covers != cover) end_group();
    cover = std::move(covers);
    const uint64_t deleted = DeletedRows(fragment);
    const bool is_small = fragment.physical_rows - deleted < options.target_rows;
    const bool is_holed = static_cast<double>(deleted) >
                          options.deleted_share_max * static_cast<double>(fragment.physical_rows);
    if (!is_small && !is_holed) {
      end_group();
      continue;
    }
    group.push_back(fragment);
    rows += fragment.physical_rows - deleted;
    has_deleted = has_deleted || is_holed;
    if (rows >= kGroupTargets * options.target_rows) end_group();
  }
  end_group();
  return groups;
}

/// Copies the live rows of groups into new fragments.
class Rewriter {
 public:
  Rewriter(const io::Location& root, const TableVersion& latest, const CompactOptions& options)
      : root_(root), latest_(latest), options_(options), files_(root) {}

  arrow::Status Open(const std::vector<Fragments>& groups) {
    ARROW_ASSIGN_OR_RAISE(dataset_, Dataset::Open(root_.uri, {.version = latest_.version()}));
    ARROW_ASSIGN_OR_RAISE(deletions_, FragmentDeletions::Make(root_, latest_));
    int64_t rows = 0;
    for (const Fragments& group : groups) {
      for (const auto& each : group) rows += each.physical_rows - DeletedRows(each);
    }
    progress_.emplace(options_.progress, rows);
    return arrow::Status::OK();
  }

  arrow::Status Rewrite(Fragments group) {
    ARROW_ASSIGN_OR_RAISE(const auto writer,
                          FragmentWriter::Make(root_, latest_.schema(), latest_.data_format(),
                                               {.max_rows = options_.target_rows}));
    const bool stable = latest_.checked.stable_row_ids;
    MovedRows moved;
    ScanOptions scan_options;
    scan_options.fragment_ids.emplace();
    addresses_.BeginGroup();
    for (const proto::DataFragmentMessage& fragment : group) {
      scan_options.fragment_ids->push_back(fragment.id);
      ARROW_ASSIGN_OR_RAISE(format::DeadRows dead, deletions_.Read(fragment.id));
      if (stable) {
        moved.AddVersions(fragment, dead);
      } else {
        addresses_.AddOld(fragment.id, fragment.physical_rows, std::move(dead));
      }
    }
    for (const format::Field& field : latest_.schema().fields) {
      scan_options.columns.push_back(field.name);
    }
    ARROW_ASSIGN_OR_RAISE(const std::unique_ptr<Scan> scan, dataset_->MakeScan(scan_options));
    while (true) {
      ARROW_RETURN_NOT_OK(options_.cancel.Check());
      ARROW_ASSIGN_OR_RAISE(const ScanBatch batch, scan->Next());
      if (batch.batch == nullptr) break;
      if (stable) ARROW_RETURN_NOT_OK(moved.AddRowIds(*dataset_, batch.addresses));
      ARROW_RETURN_NOT_OK(writer->Write(*batch.batch));
      progress_->Add(batch.batch->num_rows());
    }
    ARROW_ASSIGN_OR_RAISE(Fragments made, writer->Finish());
    files_.AddDataFiles(made);
    if (stable) moved.GiveTo(&made);
    report_.old_fragments += group.size();
    report_.new_fragments += made.size();
    report_.rows += writer->rows();
    report_.bytes += writer->bytes();
    operation_.groups.push_back({std::move(group), std::move(made)});
    return arrow::Status::OK();
  }

  /// Gives the vector indexes the new addresses. Row ids that are stable need none.
  arrow::Status RemapIndexes() {
    if (latest_.checked.stable_row_ids) return arrow::Status::OK();
    const std::vector<size_t> entries = SegmentsToRemap(*dataset_, latest_, operation_.groups);
    if (entries.empty()) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(ReserveIds());
    for (size_t i = 0; i < operation_.groups.size(); ++i) {
      addresses_.SetNew(i, operation_.groups[i].new_fragments);
    }
    for (const size_t entry : entries) {
      ARROW_ASSIGN_OR_RAISE(auto rewritten, RemapSegment(root_, latest_, entry, addresses_,
                                                         options_.cancel, &files_));
      operation_.rewritten_indices.push_back(std::move(rewritten));
    }
    return arrow::Status::OK();
  }

  arrow::Result<CompactReport> CommitAll() {
    Transaction transaction;
    transaction.read_version = latest_.version();
    transaction.operation = operation_;
    CommitOptions commit;
    commit.cancel = options_.cancel;
    ARROW_ASSIGN_OR_RAISE(report_.version, Commit(root_, transaction, commit, &files_));
    progress_->Finish();
    return report_;
  }

 private:
  /// Addresses are made of the ids of fragments: the new ones get theirs before the commit.
  arrow::Status ReserveIds() {
    uint32_t count = 0;
    for (const auto& group : operation_.groups) {
      count += static_cast<uint32_t>(group.new_fragments.size());
    }
    Transaction transaction;
    transaction.read_version = latest_.version();
    transaction.operation = proto::ReserveFragmentsOperation{count};
    CommitOptions commit;
    commit.cancel = options_.cancel;
    ARROW_ASSIGN_OR_RAISE(const uint64_t version, Commit(root_, transaction, commit));
    ARROW_ASSIGN_OR_RAISE(const TableVersion reserved, ReadTableVersion(root_, version));
    uint64_t id = uint64_t{*reserved.messages.manifest.max_fragment_id} + 1 - count;
    for (auto& group : operation_.groups) {
      for (proto::DataFragmentMessage& fragment : group.new_fragments) fragment.id = id++;
    }
    return arrow::Status::OK();
  }

  const io::Location& root_;
  const TableVersion& latest_;
  const CompactOptions& options_;
  std::shared_ptr<Dataset> dataset_;
  FragmentDeletions deletions_;
  std::optional<RowProgress> progress_;
  MovedAddresses addresses_;
  proto::RewriteOperation operation_;
  UncommittedFiles files_;
  CompactReport report_;
};

}  // namespace

arrow::Result<CompactReport> CompactDataset(const std::string& uri, const CompactOptions& options) {
  if (options.target_rows == 0) return base::Invalid("target_rows is 0; it must be at least 1");
  if (!(options.deleted_share_max >= 0 && options.deleted_share_max <= 1)) {
    return base::Invalid("deleted_share_max is ", options.deleted_share_max,
                         "; it must be from 0 to 1");
  }
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
  ARROW_RETURN_NOT_OK(
      format::CheckWriterFlags(latest.messages.manifest.writer_feature_flags, latest.uri));
  if (HasStaleIndexes(latest.checked)) {
    return base::NotSupported("can't compact ", uri,
                              ": an earlier compaction put off the remap of its indexes "
                              "(__lance_frag_reuse), which this build doesn't follow; write the "
                              "dataset anew, or compact it by what put it off");
  }
  std::vector<Fragments> groups = PlanGroups(latest, options);
  if (groups.empty()) return CompactReport{.version = latest.version()};
  Rewriter rewriter(root, latest, options);
  const base::CancelScope scope(options.cancel);
  ARROW_RETURN_NOT_OK(rewriter.Open(groups));
  for (Fragments& group : groups) ARROW_RETURN_NOT_OK(rewriter.Rewrite(std::move(group)));
  ARROW_RETURN_NOT_OK(rewriter.RemapIndexes());
  return rewriter.CommitAll();
}

}  // namespace kinjo::dataset
