#include "format/proto/transaction_messages.h"

#include <type_traits>

#include "format/proto/file_messages.h"
#include "format/proto/table_encoding.h"
#include "format/proto/wire.h"

namespace kinjo::format::proto {
namespace {

// Numbers of the oneof `operation`; all of 100 to 199 are kept for it.
enum OperationNumber : uint32_t {
  kAppend = 100,
  kDelete = 101,
  kOverwrite = 102,
  kCreateIndex = 103,
  kRewrite = 104,
  kMerge = 105,
  kRestore = 106,
  kReserveFragments = 107,
  kUpdate = 108,
  kProject = 109,
  kUpdateConfig = 110,
  kLastOperation = 199,
};

bool TakeFragment(const WireField& field, std::vector<DataFragmentMessage>* fragments) {
  fragments->emplace_back();
  return field.type == WireType::kBytes && ParseFragment(field.bytes, &fragments->back());
}

bool TakeField(const WireField& field, std::vector<Field>* fields) {
  fields->emplace_back();
  return field.type == WireType::kBytes && ParseField(field.bytes, &fields->back());
}

bool TakeIndex(const WireField& field, std::vector<IndexMetadataMessage>* indexes) {
  indexes->emplace_back();
  return field.type == WireType::kBytes && ParseIndexMetadata(field.bytes, &indexes->back());
}

bool Parse(const WireField& field, AppendOperation* operation) {
  return field.number != 1 || TakeFragment(field, &operation->fragments);
}

bool Parse(const WireField& field, DeleteOperation* operation) {
  if (field.number == 1) return TakeFragment(field, &operation->updated_fragments);
  if (field.number == 2) return AppendVarints(field, &operation->deleted_fragment_ids);
  if (field.number == 3) operation->predicate = field.as_string();
  return true;
}

bool Parse(const WireField& field, OverwriteOperation* operation) {
  if (field.number == 1) return TakeFragment(field, &operation->fragments);
  if (field.number == 2) return TakeField(field, &operation->fields);
  if (field.number == 3) return ParseMapEntry(field.bytes, &operation->schema_metadata);
  if (field.number == 4) return ParseMapEntry(field.bytes, &operation->config_upserts);
  return true;
}

bool Parse(const WireField& field, CreateIndexOperation* operation) {
  if (field.number == 1) return TakeIndex(field, &operation->new_indices);
  if (field.number == 2) return TakeIndex(field, &operation->removed_indices);
  return true;
}

bool ParseGroup(std::string_view bytes, RewriteOperation::Group* group) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1 && !TakeFragment(field, &group->old_fragments)) return false;
    if (field.number == 2 && !TakeFragment(field, &group->new_fragments)) return false;
  }
  return reader.ok();
}

std::string UuidBytes(std::string_view message) {
  WireReader reader(message);
  std::string uuid;
  while (reader.Next()) {
    if (reader.field().number == 1) uuid = reader.field().as_string();
  }
  return uuid;
}

/// Only what tells which segments are meant: nobody applies another writer's rewrite.
void ParseRewrittenIndex(std::string_view bytes, RewriteOperation::RewrittenIndex* index) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) index->old_id = UuidBytes(reader.field().bytes);
    if (reader.field().number == 2) index->new_id = UuidBytes(reader.field().bytes);
  }
}

bool Parse(const WireField& field, RewriteOperation* operation) {
  if (field.number == 1 || field.number == 2) {
    // The form before groups: one group.
    if (operation->groups.empty()) operation->groups.emplace_back();
    RewriteOperation::Group& group = operation->groups.front();
    return TakeFragment(field, field.number == 1 ? &group.old_fragments : &group.new_fragments);
  }
  if (field.number == 3) {
    operation->groups.emplace_back();
    return ParseGroup(field.bytes, &operation->groups.back());
  }
  if (field.number == 4) {
    operation->rewritten_indices.emplace_back();
    ParseRewrittenIndex(field.bytes, &operation->rewritten_indices.back());
  }
  return true;
}

bool Parse(const WireField& field, MergeOperation* operation) {
  if (field.number == 1) return TakeFragment(field, &operation->fragments);
  if (field.number == 2) return TakeField(field, &operation->fields);
  if (field.number == 3) return ParseMapEntry(field.bytes, &operation->schema_metadata);
  if (field.number == 4) operation->preserves_nullability = field.as_bool();
  return true;
}

bool Parse(const WireField& field, RestoreOperation* operation) {
  if (field.number == 1) operation->version = field.value;
  return true;
}

bool Parse(const WireField& field, ReserveFragmentsOperation* operation) {
  if (field.number == 1) operation->num_fragments = field.as_uint32();
  return true;
}

bool Parse(const WireField& field, UpdateOperation* operation) {
  if (field.number == 1) return AppendVarints(field, &operation->removed_fragment_ids);
  if (field.number == 2) return TakeFragment(field, &operation->updated_fragments);
  if (field.number == 3) return TakeFragment(field, &operation->new_fragments);
  if (field.number == 4) return AppendVarints(field, &operation->fields_modified);
  return true;
}

bool Parse(const WireField& field, ProjectOperation* operation) {
  if (field.number == 1) return TakeField(field, &operation->fields);
  if (field.number == 2) operation->preserves_nullability = field.as_bool();
  return true;
}

/// What an operation holds before its fields are read: absent flags are false.
template <typename T>
T Unread() {
  return T{};
}
template <>
MergeOperation Unread() {
  return {.preserves_nullability = false};
}
template <>
ProjectOperation Unread() {
  return {.preserves_nullability = false};
}

bool Parse(const WireField&, UpdateConfigOperation*) { return true; }

template <typename T>
bool TakeOperation(const WireField& field, TransactionMessage* transaction) {
  if (field.type != WireType::kBytes) return false;
  T operation = Unread<T>();
  WireReader reader(field.bytes);
  while (reader.Next()) {
    if (!Parse(reader.field(), &operation)) return false;
  }
  transaction->operation = std::move(operation);
  return reader.ok();
}

bool ParseOperation(const WireField& field, TransactionMessage* transaction) {
  switch (field.number) {
    case kAppend:
      return TakeOperation<AppendOperation>(field, transaction);
    case kDelete:
      return TakeOperation<DeleteOperation>(field, transaction);
    case kOverwrite:
      return TakeOperation<OverwriteOperation>(field, transaction);
    case kCreateIndex:
      return TakeOperation<CreateIndexOperation>(field, transaction);
    case kRewrite:
      return TakeOperation<RewriteOperation>(field, transaction);
    case kMerge:
      return TakeOperation<MergeOperation>(field, transaction);
    case kRestore:
      return TakeOperation<RestoreOperation>(field, transaction);
    case kReserveFragments:
      return TakeOperation<ReserveFragmentsOperation>(field, transaction);
    case kUpdate:
      return TakeOperation<UpdateOperation>(field, transaction);
    case kProject:
      return TakeOperation<ProjectOperation>(field, transaction);
    case kUpdateConfig:
      return TakeOperation<UpdateConfigOperation>(field, transaction);
    default:
      transaction->operation = UnknownOperation{field.number};
      return true;
  }
}

void WriteFragments(uint32_t number, const std::vector<DataFragmentMessage>& fragments,
                    WireWriter* message) {
  for (const DataFragmentMessage& fragment : fragments) {
    message->Message(number, EncodeFragment(fragment));
  }
}

void WriteFields(uint32_t number, const std::vector<Field>& fields, WireWriter* message) {
  for (const Field& field : fields) message->Message(number, EncodeField(field));
}

void WriteIndexes(uint32_t number, const std::vector<IndexMetadataMessage>& indexes,
                  WireWriter* message) {
  for (const IndexMetadataMessage& index : indexes) {
    message->Message(number, EncodeIndexMetadata(index));
  }
}

// Each writes the fields of its operation and gives the operation's number; 0 = never written.

uint32_t Write(const UnknownOperation&, WireWriter*) { return 0; }
uint32_t Write(const UpdateOperation&, WireWriter*) { return 0; }
uint32_t Write(const UpdateConfigOperation&, WireWriter*) { return 0; }

uint32_t Write(const AppendOperation& operation, WireWriter* message) {
  WriteFragments(1, operation.fragments, message);
  return kAppend;
}

uint32_t Write(const DeleteOperation& operation, WireWriter* message) {
  WriteFragments(1, operation.updated_fragments, message);
  message->PackedNumbers(2, std::span<const uint64_t>(operation.deleted_fragment_ids))
      .Bytes(3, operation.predicate);
  return kDelete;
}

uint32_t Write(const OverwriteOperation& operation, WireWriter* message) {
  WriteFragments(1, operation.fragments, message);
  WriteFields(2, operation.fields, message);
  message->Map(3, operation.schema_metadata).Map(4, operation.config_upserts);
  return kOverwrite;
}

uint32_t Write(const CreateIndexOperation& operation, WireWriter* message) {
  WriteIndexes(1, operation.new_indices, message);
  WriteIndexes(2, operation.removed_indices, message);
  return kCreateIndex;
}

WireWriter EncodeRewrittenIndex(const RewriteOperation::RewrittenIndex& index) {
  WireWriter message;
  message.Message(1, WireWriter().Bytes(1, index.old_id))
      .Message(2, WireWriter().Bytes(1, index.new_id))
      .Message(3, WireWriter().Bytes(1, index.details_url).Bytes(2, index.details))
      .Number(4, index.index_version);
  for (const IndexFileMessage& file : index.files) message.Message(5, EncodeIndexFile(file));
  return message;
}

uint32_t Write(const RewriteOperation& operation, WireWriter* message) {
  for (const RewriteOperation::Group& group : operation.groups) {
    WireWriter written;
    WriteFragments(1, group.old_fragments, &written);
    WriteFragments(2, group.new_fragments, &written);
    message->Message(3, written);
  }
  for (const RewriteOperation::RewrittenIndex& index : operation.rewritten_indices) {
    message->Message(4, EncodeRewrittenIndex(index));
  }
  return kRewrite;
}

uint32_t Write(const MergeOperation& operation, WireWriter* message) {
  WriteFragments(1, operation.fragments, message);
  WriteFields(2, operation.fields, message);
  message->Map(3, operation.schema_metadata).Bool(4, operation.preserves_nullability);
  return kMerge;
}

uint32_t Write(const RestoreOperation& operation, WireWriter* message) {
  message->Number(1, operation.version);
  return kRestore;
}

uint32_t Write(const ReserveFragmentsOperation& operation, WireWriter* message) {
  message->Number(1, operation.num_fragments);
  return kReserveFragments;
}

uint32_t Write(const ProjectOperation& operation, WireWriter* message) {
  WriteFields(1, operation.fields, message);
  message->Bool(2, operation.preserves_nullability);
  return kProject;
}

std::string_view NameOf(const UnknownOperation&) { return "an operation that isn't known"; }
std::string_view NameOf(const AppendOperation&) { return "Append"; }
std::string_view NameOf(const DeleteOperation&) { return "Delete"; }
std::string_view NameOf(const OverwriteOperation&) { return "Overwrite"; }
std::string_view NameOf(const CreateIndexOperation&) { return "CreateIndex"; }
std::string_view NameOf(const RewriteOperation&) { return "Rewrite"; }
std::string_view NameOf(const MergeOperation&) { return "Merge"; }
std::string_view NameOf(const RestoreOperation&) { return "Restore"; }
std::string_view NameOf(const ReserveFragmentsOperation&) { return "ReserveFragments"; }
std::string_view NameOf(const UpdateOperation&) { return "Update"; }
std::string_view NameOf(const ProjectOperation&) { return "Project"; }
std::string_view NameOf(const UpdateConfigOperation&) { return "UpdateConfig"; }

}  // namespace

bool ParseTransaction(std::string_view bytes, TransactionMessage* transaction) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    bool good = true;
    if (field.number == 1) transaction->read_version = field.value;
    if (field.number == 2) transaction->uuid = field.as_string();
    if (field.number == 3) transaction->tag = field.as_string();
    if (field.number == 4) good = ParseMapEntry(field.bytes, &transaction->properties);
    if (field.number >= kAppend && field.number <= kLastOperation) {
      good = ParseOperation(field, transaction);
    }
    if (!good) return false;
  }
  return reader.ok();
}

WireWriter EncodeTransaction(const TransactionMessage& transaction) {
  WireWriter message;
  message.Number(1, transaction.read_version)
      .Bytes(2, transaction.uuid)
      .Bytes(3, transaction.tag)
      .Map(4, transaction.properties);
  WireWriter written;
  const uint32_t number = std::visit(
      [&](const auto& operation) { return Write(operation, &written); }, transaction.operation);
  if (number != 0) message.Message(number, written);
  return message;
}

std::string_view OperationName(const TransactionMessage::Operation& operation) {
  return std::visit([](const auto& each) { return NameOf(each); }, operation);
}

}  // namespace kinjo::format::proto
