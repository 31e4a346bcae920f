// The transaction of a commit: what a writer changed, for the writers that committed from the same
// version to judge. An operation that this build doesn't know keeps its number only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "format/proto/table_messages.h"
#include "format/proto/wire_writer.h"
#include "format/schema.h"

namespace kinjo::format::proto {

// Fragments that are new have the id 0: the commit gives them theirs. (Those of a rewrite may have
// one that was reserved.)

/// New rows.
struct AppendOperation {
  std::vector<DataFragmentMessage> fragments;
};

/// Rows less: fragments with a new deletion file, and fragments without a live row.
struct DeleteOperation {
  std::vector<DataFragmentMessage> updated_fragments;
  std::vector<uint64_t> deleted_fragment_ids;
  std::string predicate;
};

/// Everything anew: other fragments, another schema, no index. Also the first version.
struct OverwriteOperation {
  std::vector<DataFragmentMessage> fragments;
  std::vector<Field> fields;  ///< depth first, flat
  std::map<std::string, std::string> schema_metadata;
  std::map<std::string, std::string> config_upserts;
};

/// Index segments more and less. A replaced segment stands in both lists.
struct CreateIndexOperation {
  std::vector<IndexMetadataMessage> new_indices;
  std::vector<IndexMetadataMessage> removed_indices;
};

/// The same rows in other fragments (compaction).
struct RewriteOperation {
  struct Group {
    std::vector<DataFragmentMessage> old_fragments;
    std::vector<DataFragmentMessage> new_fragments;
  };
  /// An index segment whose row addresses were carried over into new files.
  struct RewrittenIndex {
    std::string old_id;  ///< raw UUIDs
    std::string new_id;
    std::string details_url;
    std::string details;
    uint32_t index_version = 0;
    std::vector<IndexFileMessage> files;
  };
  std::vector<Group> groups;
  std::vector<RewrittenIndex> rewritten_indices;
};

/// Columns more: every fragment with its new files, and the new schema.
struct MergeOperation {
  std::vector<DataFragmentMessage> fragments;
  std::vector<Field> fields;
  std::map<std::string, std::string> schema_metadata;
  bool preserves_nullability = true;  ///< what may be null still may: appends go beside it
};

/// Back to what an earlier version held.
struct RestoreOperation {
  uint64_t version = 0;
};

/// Ids set aside for fragments to come.
struct ReserveFragmentsOperation {
  uint32_t num_fragments = 0;
};

/// Rows changed: moved to new fragments, or columns rewritten in place. Read only, never written.
struct UpdateOperation {
  std::vector<uint64_t> removed_fragment_ids;
  std::vector<DataFragmentMessage> updated_fragments;
  std::vector<DataFragmentMessage> new_fragments;
  std::vector<uint32_t> fields_modified;
};

/// Columns less, or under other names.
struct ProjectOperation {
  std::vector<Field> fields;
  bool preserves_nullability = true;  ///< what may be null still may: appends go beside it
};

/// Settings of the table. Read only, never written.
struct UpdateConfigOperation {};

struct UnknownOperation {
  uint32_t number = 0;
};

struct TransactionMessage {
  using Operation = std::variant<UnknownOperation, AppendOperation, DeleteOperation,
                                 OverwriteOperation, CreateIndexOperation, RewriteOperation,
                                 MergeOperation, RestoreOperation, ReserveFragmentsOperation,
                                 UpdateOperation, ProjectOperation, UpdateConfigOperation>;

  uint64_t read_version = 0;
  std::string uuid;  ///< in text form; Commit gives one where it is empty
  std::string tag;
  std::map<std::string, std::string> properties;
  Operation operation;
};

/// False when the bytes are malformed.
bool ParseTransaction(std::string_view bytes, TransactionMessage* transaction);

/// REQUIRES: an operation that is written.
WireWriter EncodeTransaction(const TransactionMessage& transaction);

/// Lance's name of the operation: "Append", "Delete", ...
std::string_view OperationName(const TransactionMessage::Operation& operation);

}  // namespace kinjo::format::proto
