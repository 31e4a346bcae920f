#include "dataset/next_version.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "format/proto/table_encoding.h"
#include "format/table/feature_flags.h"
#include "format/table/manifest_writer.h"
#include "format/table/roaring_bitmap.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;
using Fragments = std::vector<proto::DataFragmentMessage>;

// Ids of fragments are the upper half of row addresses, whose highest value means "no row".
constexpr uint64_t kMaxFragmentId = std::numeric_limits<uint32_t>::max() - 1;

constexpr const char* kDefaultDataFormat = "2.2";

/// The version under construction.
class NextVersion {
 public:
  NextVersion(const io::Location& root, format::ManifestMessages messages)
      : root_(root), messages_(std::move(messages)) {}

  void Begin(const std::string& transaction_file) {
    proto::ManifestMessage& manifest = messages_.manifest;
    ++manifest.version;
    manifest.transaction_file = transaction_file;
    manifest.writer_library = "kinjo";
    manifest.writer_version = KINJO_VERSION;
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
    manifest.timestamp_seconds = seconds.count();
    manifest.timestamp_nanos = static_cast<int32_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(now - seconds).count());
    for (const proto::DataFragmentMessage& fragment : manifest.fragments) NoteId(fragment.id);
  }

  arrow::Result<format::ManifestMessages> Finish() {
    format::SetFeatureFlags(&messages_.manifest);
    return std::move(messages_);
  }

  void SetNewTable(const NewTableOptions& options, bool is_new) {
    proto::ManifestMessage& manifest = messages_.manifest;
    if (!options.data_format.empty()) manifest.data_format = options.data_format;
    if (manifest.data_format.empty()) manifest.data_format = kDefaultDataFormat;
    if (!is_new || !options.stable_row_ids) return;
    manifest.reader_feature_flags |= format::kStableRowIdsFlag;
    manifest.writer_feature_flags |= format::kStableRowIdsFlag;
  }

  arrow::Status Apply(const proto::AppendOperation& operation) {
    for (const proto::DataFragmentMessage& fragment : operation.fragments) {
      ARROW_RETURN_NOT_OK(AddNew(fragment, &messages_.manifest.fragments).status());
    }
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::DeleteOperation& operation) {
    std::unordered_map<uint64_t, const proto::DataFragmentMessage*> updated;
    for (const auto& fragment : operation.updated_fragments) updated[fragment.id] = &fragment;
    const std::set<uint64_t> gone(operation.deleted_fragment_ids.begin(),
                                  operation.deleted_fragment_ids.end());
    Fragments& fragments = messages_.manifest.fragments;
    std::erase_if(fragments, [&](const auto& fragment) { return gone.contains(fragment.id); });
    for (proto::DataFragmentMessage& fragment : fragments) {
      const auto found = updated.find(fragment.id);
      if (found != updated.end()) fragment = *found->second;
    }
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::OverwriteOperation& operation) {
    proto::ManifestMessage& manifest = messages_.manifest;
    manifest.fields = operation.fields;
    manifest.schema_metadata = operation.schema_metadata;
    for (const auto& [key, value] : operation.config_upserts) manifest.config[key] = value;
    messages_.indexes.clear();
    Fragments fragments;
    for (const proto::DataFragmentMessage& fragment : operation.fragments) {
      ARROW_RETURN_NOT_OK(AddNew(fragment, &fragments).status());
    }
    manifest.fragments = std::move(fragments);
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::CreateIndexOperation& operation) {
    std::erase_if(messages_.indexes, [&](const proto::IndexMetadataMessage& index) {
      return std::any_of(operation.removed_indices.begin(), operation.removed_indices.end(),
                         [&](const auto& removed) { return removed.uuid == index.uuid; });
    });
    messages_.indexes.insert(messages_.indexes.end(), operation.new_indices.begin(),
                             operation.new_indices.end());
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::RewriteOperation& operation) {
    std::set<std::string_view> rewritten;
    for (const auto& index : operation.rewritten_indices) rewritten.insert(index.old_id);
    for (const proto::RewriteOperation::Group& group : operation.groups) {
      ARROW_RETURN_NOT_OK(ReplaceGroup(group, rewritten));
    }
    for (const auto& index : operation.rewritten_indices) CarryOver(index);
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::MergeOperation& operation) {
    proto::ManifestMessage& manifest = messages_.manifest;
    manifest.fragments = operation.fragments;
    manifest.fields = operation.fields;
    manifest.schema_metadata = operation.schema_metadata;
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::RestoreOperation& operation) {
    ARROW_ASSIGN_OR_RAISE(TableVersion restored, ReadTableVersion(root_, operation.version));
    ARROW_RETURN_NOT_OK(
        format::CheckWriterFlags(restored.messages.manifest.writer_feature_flags, restored.uri));
    const proto::ManifestMessage newest = std::move(messages_.manifest);
    messages_ = std::move(restored.messages);
    proto::ManifestMessage& manifest = messages_.manifest;
    manifest.version = newest.version;
    manifest.transaction_file = newest.transaction_file;
    manifest.timestamp_seconds = newest.timestamp_seconds;
    manifest.timestamp_nanos = newest.timestamp_nanos;
    manifest.writer_library = newest.writer_library;
    manifest.writer_version = newest.writer_version;
    manifest.next_row_id = std::max(manifest.next_row_id, newest.next_row_id);
    // Ids are never given twice.
    if (newest.max_fragment_id.has_value()) NoteId(*newest.max_fragment_id);
    return arrow::Status::OK();
  }

  arrow::Status Apply(const proto::ReserveFragmentsOperation& operation) {
    const uint64_t next = NextId();
    if (operation.num_fragments == 0) return arrow::Status::OK();
    return UseId(next + operation.num_fragments - 1);
  }

  arrow::Status Apply(const proto::ProjectOperation& operation) {
    proto::ManifestMessage& manifest = messages_.manifest;
    manifest.fields = operation.fields;
    std::set<int32_t> ids;
    for (const format::Field& field : manifest.fields) ids.insert(field.id);
    const auto is_gone = [&](int32_t id) { return !ids.contains(id); };
    for (proto::DataFragmentMessage& fragment : manifest.fragments) {
      std::erase_if(fragment.files, [&](const proto::DataFileMessage& file) {
        return std::all_of(file.fields.begin(), file.fields.end(), is_gone);
      });
    }
    std::erase_if(messages_.indexes, [&](const proto::IndexMetadataMessage& index) {
      return std::any_of(index.fields.begin(), index.fields.end(), is_gone);
    });
    return arrow::Status::OK();
  }

  template <typename Other>
  arrow::Status Apply(const Other&) {
    return base::Internal("a transaction that is only read can't be committed");
  }

 private:
  void NoteId(uint64_t id) {
    std::optional<uint32_t>& highest = messages_.manifest.max_fragment_id;
    if (!highest.has_value() || id > *highest) highest = static_cast<uint32_t>(id);
  }

  uint64_t NextId() const {
    const std::optional<uint32_t>& highest = messages_.manifest.max_fragment_id;
    return highest.has_value() ? uint64_t{*highest} + 1 : 0;
  }

  arrow::Status UseId(uint64_t id) {
    if (id > kMaxFragmentId) {
      return base::Invalid("the dataset ", root_.uri, " has used up its ", kMaxFragmentId,
                           " fragment ids; write it anew");
    }
    NoteId(id);
    return arrow::Status::OK();
  }

  /// Adds a fragment with an id of its own, and with row ids where they are stable. It comes last,
  /// but for one whose id was reserved before others came: ids rise. Gives the id.
  arrow::Result<uint64_t> AddNew(proto::DataFragmentMessage fragment, Fragments* fragments) {
    proto::ManifestMessage& manifest = messages_.manifest;
    if (fragment.id == 0) fragment.id = NextId();
    ARROW_RETURN_NOT_OK(UseId(fragment.id));
    if ((manifest.reader_feature_flags & format::kStableRowIdsFlag) != 0 &&
        !fragment.row_ids.has_value()) {
      fragment.row_ids =
          proto::EncodeRowIdRange(manifest.next_row_id, fragment.physical_rows).text();
      manifest.next_row_id += fragment.physical_rows;
      const proto::VersionRun run{fragment.physical_rows, manifest.version};
      fragment.created_at = proto::EncodeRowVersions({&run, 1}).text();
      fragment.last_updated_at = fragment.created_at;
    }
    const uint64_t id = fragment.id;
    auto place = fragments->end();
    while (place != fragments->begin() && std::prev(place)->id > id) --place;
    fragments->insert(place, std::move(fragment));
    return id;
  }

  /// Takes the old fragments of a group out and puts the new ones in. Index segments follow that
  /// know the new rows: those that were `rewritten` and, where row ids are stable, vector indexes'.
  /// (Other indexes list addresses all the same.)
  arrow::Status ReplaceGroup(const proto::RewriteOperation::Group& group,
                             const std::set<std::string_view>& rewritten) {
    std::set<uint64_t> old_ids;
    for (const auto& fragment : group.old_fragments) old_ids.insert(fragment.id);
    Fragments& fragments = messages_.manifest.fragments;
    std::erase_if(fragments, [&](const auto& fragment) { return old_ids.contains(fragment.id); });
    std::vector<uint32_t> new_ids;
    for (const proto::DataFragmentMessage& fragment : group.new_fragments) {
      ARROW_ASSIGN_OR_RAISE(const uint64_t id, AddNew(fragment, &fragments));
      new_ids.push_back(static_cast<uint32_t>(id));
    }
    const bool stable = (messages_.manifest.reader_feature_flags & format::kStableRowIdsFlag) != 0;
    for (proto::IndexMetadataMessage& index : messages_.indexes) {
      const bool follows = stable ? index.details_url.ends_with("VectorIndexDetails")
                                  : rewritten.contains(index.uuid);
      if (follows) MoveCover(old_ids, new_ids, /*keep_old=*/!stable && HasDeleted(group), &index);
    }
    return arrow::Status::OK();
  }

  static bool HasDeleted(const proto::RewriteOperation::Group& group) {
    return std::any_of(group.old_fragments.begin(), group.old_fragments.end(),
                       [](const auto& fragment) { return fragment.deletion_file.has_value(); });
  }

  /// A segment that covers all old fragments of a group knows the rows of the new ones; one that
  /// covers a part of them covers neither. `keep_old`: it still lists deleted rows of the old ones,
  /// which a reader leaves out only where it sees that their fragments are gone.
  static void MoveCover(const std::set<uint64_t>& old_ids, const std::vector<uint32_t>& new_ids,
                        bool keep_old, proto::IndexMetadataMessage* index) {
    const auto bitmap = format::RoaringBitmap::Parse(index->fragment_bitmap);
    if (!bitmap.has_value()) return;
    std::vector<uint32_t> covered;
    size_t moved = 0;
    bitmap->ForEach([&](uint32_t id) {
      const bool moves = old_ids.contains(id);
      moved += moves;
      if (!moves || keep_old) covered.push_back(id);
      return true;
    });
    if (moved != old_ids.size()) return;
    covered.insert(covered.end(), new_ids.begin(), new_ids.end());
    index->fragment_bitmap = format::EncodeRoaring(covered);
  }

  /// Names the new files of an index segment whose addresses were carried over.
  void CarryOver(const proto::RewriteOperation::RewrittenIndex& rewritten) {
    for (proto::IndexMetadataMessage& index : messages_.indexes) {
      if (index.uuid != rewritten.old_id) continue;
      index.uuid = rewritten.new_id;
      index.files = rewritten.files;
      index.base_id.reset();
    }
  }

  const io::Location& root_;
  format::ManifestMessages messages_;
};

}  // namespace

arrow::Result<format::ManifestMessages> MakeNextVersion(
    const io::Location& root, const proto::TransactionMessage& transaction,
    const TableVersion* latest, const NewTableOptions& options) {
  NextVersion next(root, latest == nullptr ? format::ManifestMessages{} : latest->messages);
  next.Begin(base::Concat(transaction.read_version, "-", transaction.uuid, ".txn"));
  if (std::holds_alternative<proto::OverwriteOperation>(transaction.operation)) {
    next.SetNewTable(options, latest == nullptr);
  }
  ARROW_RETURN_NOT_OK(std::visit([&](const auto& operation) { return next.Apply(operation); },
                                 transaction.operation));
  return next.Finish();
}

}  // namespace kinjo::dataset
