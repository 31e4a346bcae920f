#include "dataset/index_commit.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "dataset/commit.h"
#include "dataset/index_entry.h"
#include "dataset/table_version.h"
#include "format/table/uuid.h"

namespace kinjo::dataset {

namespace {

using format::proto::CreateIndexOperation;
using Entry = format::proto::IndexMetadataMessage;

uint64_t NowMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::vector<Entry> EntriesNamed(const TableVersion& version, const std::string& name) {
  std::vector<Entry> entries;
  for (const Entry& entry : version.messages.indexes) {
    if (entry.name == name) entries.push_back(entry);
  }
  return entries;
}

arrow::Status CheckName(const std::string& name) {
  if (name.empty()) return base::Invalid("an index needs a name");
  if (!name.starts_with(kSystemIndexPrefix)) return arrow::Status::OK();
  return base::Invalid("name is '", name, "': names that begin with ", kSystemIndexPrefix,
                       " are Lance's own");
}

arrow::Status NoSuchIndex(const std::string& uri, const std::string& name,
                          const TableVersion& version) {
  std::set<std::string> names;
  for (const Entry& entry : version.messages.indexes) {
    if (!entry.name.starts_with(kSystemIndexPrefix)) names.insert(entry.name);
  }
  std::string list;
  for (const std::string& other : names) list += (list.empty() ? "" : ", ") + other;
  return base::NotFound(uri, " has no index '", name, "'; ",
                        list.empty() ? "it has none" : "it has " + list);
}

arrow::Status TakenName(const std::string& uri, const std::string& name) {
  return base::Invalid(uri, " has an index '", name, "' already; replace it, or give another name");
}

arrow::Status CheckSegments(const SegmentCommit& commit) {
  ARROW_RETURN_NOT_OK(CheckName(commit.name));
  if (commit.segments.empty())
    return base::Invalid("no segment is given for index '", commit.name, "'");
  std::set<uint64_t> covered;
  const IndexSegment& first = commit.segments.front();
  for (const IndexSegment& segment : commit.segments) {
    if (segment.field_id != first.field_id || segment.type != first.type ||
        segment.metric != first.metric) {
      return base::Invalid("the segments of index '", commit.name,
                           "' differ in column, type or metric: ", first.column, " ", first.type,
                           " ", first.metric, " and ", segment.column, " ", segment.type, " ",
                           segment.metric);
    }
    for (const uint64_t id : segment.fragment_ids) {
      if (covered.insert(id).second) continue;
      return base::Invalid("two segments of index '", commit.name, "' cover fragment ", id);
    }
  }
  return arrow::Status::OK();
}

/// The entries that go. Of kKeep, each of `replaced` must be among those that are there.
arrow::Result<std::vector<Entry>> RemovedEntries(const std::string& uri,
                                                 const SegmentCommit& commit,
                                                 std::vector<Entry> there) {
  if (commit.existing == Existing::kReplace || there.empty()) {
    if (commit.replaced.empty()) return there;
  }
  if (commit.existing == Existing::kRefuse) {
    return TakenName(uri, commit.name);
  }
  std::vector<Entry> removed;
  for (Entry& entry : there) {
    const std::string uuid = format::UuidText(entry.uuid).value_or("");
    if (std::find(commit.replaced.begin(), commit.replaced.end(), uuid) != commit.replaced.end()) {
      removed.push_back(std::move(entry));
    }
  }
  if (removed.size() == commit.replaced.size()) return removed;
  return base::MakeError(base::ErrorCode::kConflict,
                         base::Concat("index '", commit.name, "' of ", uri,
                                      " was changed by another writer meanwhile; do it again"));
}

uint64_t OldestVersion(const std::vector<IndexSegment>& segments) {
  uint64_t oldest = segments.front().dataset_version;
  for (const IndexSegment& segment : segments) oldest = std::min(oldest, segment.dataset_version);
  return oldest;
}

arrow::Result<uint64_t> CommitOperation(const io::Location& root, uint64_t read_version,
                                        CreateIndexOperation operation,
                                        const base::CancelToken& cancel,
                                        UncommittedFiles* files = nullptr) {
  Transaction transaction;
  transaction.read_version = read_version;
  transaction.operation = std::move(operation);
  CommitOptions options;
  options.cancel = cancel;
  return Commit(root, transaction, options, files);
}

}  // namespace

arrow::Status CheckIndexName(const std::string& uri, const std::string& name, Existing existing) {
  ARROW_RETURN_NOT_OK(CheckName(name));
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
  if (existing != Existing::kRefuse || EntriesNamed(latest, name).empty()) {
    return arrow::Status::OK();
  }
  return TakenName(uri, name);
}

arrow::Result<uint64_t> CommitSegments(const std::string& uri, const SegmentCommit& commit,
                                       const base::CancelToken& cancel, UncommittedFiles* files) {
  ARROW_RETURN_NOT_OK(CheckSegments(commit));
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
  CreateIndexOperation operation;
  ARROW_ASSIGN_OR_RAISE(operation.removed_indices,
                        RemovedEntries(uri, commit, EntriesNamed(latest, commit.name)));
  for (const IndexSegment& segment : commit.segments) {
    ARROW_ASSIGN_OR_RAISE(Entry entry, MakeIndexEntry(segment, commit.name, NowMs()));
    operation.new_indices.push_back(std::move(entry));
  }
  return CommitOperation(root, OldestVersion(commit.segments), std::move(operation), cancel, files);
}

arrow::Result<uint64_t> DropIndex(const std::string& uri, const std::string& name,
                                  const base::CancelToken& cancel) {
  ARROW_RETURN_NOT_OK(CheckName(name));
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
  CreateIndexOperation operation;
  operation.removed_indices = EntriesNamed(latest, name);
  if (operation.removed_indices.empty()) return NoSuchIndex(uri, name, latest);
  return CommitOperation(root, latest.version(), std::move(operation), cancel);
}

arrow::Result<uint64_t> RenameIndex(const std::string& uri, const std::string& name,
                                    const std::string& new_name, const base::CancelToken& cancel) {
  ARROW_RETURN_NOT_OK(CheckName(name));
  ARROW_RETURN_NOT_OK(CheckName(new_name));
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  ARROW_ASSIGN_OR_RAISE(const TableVersion latest, ReadTableVersion(root));
  CreateIndexOperation operation;
  operation.removed_indices = EntriesNamed(latest, name);
  if (operation.removed_indices.empty()) return NoSuchIndex(uri, name, latest);
  if (!EntriesNamed(latest, new_name).empty()) {
    return base::Invalid(uri, " has an index '", new_name, "' already");
  }
  operation.new_indices = operation.removed_indices;
  for (Entry& entry : operation.new_indices) entry.name = new_name;
  return CommitOperation(root, latest.version(), std::move(operation), cancel);
}

std::string DefaultIndexName(const std::string& column) { return column + "_idx"; }

}  // namespace kinjo::dataset
