#include "format/table/manifest.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "format/table/feature_flags.h"
#include "format/table/uuid.h"

namespace kinjo::format {
namespace {

constexpr uint64_t kFooterBytes = 16;
constexpr uint64_t kTailBytes = 64 * 1024;
constexpr uint64_t kMaxFragmentId = (uint64_t{1} << 32) - 2;
constexpr uint64_t kMaxFragmentRows = uint64_t{1} << 32;

template <typename T>
T Load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// A message with a length before it.
arrow::Result<std::shared_ptr<arrow::Buffer>> ReadSection(io::RandomReader* reader, uint64_t offset,
                                                          uint64_t end, const char* what) {
  if (offset > end || end - offset < 4) {
    return base::Corrupt(reader->path(), offset, "the ", what, " lies outside of the manifest");
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> prefix, reader->Read({offset, 4}));
  const uint64_t length = Load<uint32_t>(prefix->data());
  if (length > end - offset - 4) {
    return base::Corrupt(reader->path(), offset, "the ", what, " of ", length,
                         " bytes goes past the end of the manifest");
  }
  return reader->Read({offset + 4, length});
}

/// Refuses names by which a manifest could reach outside of the dataset.
arrow::Status CheckName(const std::string& name, const std::string& manifest) {
  const auto refuse = [&](const char* why) {
    return base::Corrupt(manifest, 0, "the manifest names the file '", name, "', which ", why);
  };
  if (name.empty()) return refuse("is empty");
  if (name.find('\0') != std::string::npos) return refuse("holds a zero byte");
  if (name.front() == '/' || name.find('\\') != std::string::npos ||
      name.find("://") != std::string::npos) {
    return refuse("isn't relative to the dataset");
  }
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part(name.data() + begin, end - begin);
    if (part == ".." || part == "." || part.empty()) return refuse("may leave the dataset");
    begin = end + 1;
  }
  return arrow::Status::OK();
}

arrow::Status RefuseVersion(const std::string& what, const std::string& version,
                            const std::string& manifest) {
  return base::MakeError(
      base::ErrorCode::kNotSupported,
      base::Concat(what, " has the file version ", version,
                   ", this build reads 2.0, 2.1 and 2.2; rewrite the dataset with pylance: "
                   "lance.write_dataset(lance.dataset(OLD), NEW, data_storage_version='2.2')"),
      manifest);
}

arrow::Status CheckDataFormat(std::string* version, const std::string& manifest) {
  if (*version == "0.3") *version = "2.0";  // the name that footers give version 2.0
  if (*version == "2.0" || *version == "2.1" || *version == "2.2") return arrow::Status::OK();
  const bool legacy = version->empty() || version->starts_with("0.") || *version == "legacy";
  return RefuseVersion(
      "the dataset of " + manifest,
      legacy ? (version->empty() ? "0.1 (legacy)" : *version + " (legacy)") : *version, manifest);
}

arrow::Status CheckFileVersion(const proto::DataFileMessage& file, const std::string& manifest) {
  const bool known = (file.major_version == 2 && file.minor_version <= 2) ||
                     (file.major_version == 0 && file.minor_version == 3);
  if (known) return arrow::Status::OK();
  return RefuseVersion("the data file " + file.path,
                       base::Concat(file.major_version, ".", file.minor_version), manifest);
}

arrow::Result<DataFile> MakeDataFile(proto::DataFileMessage message, const std::string& path) {
  ARROW_RETURN_NOT_OK(CheckName(message.path, path));
  ARROW_RETURN_NOT_OK(CheckFileVersion(message, path));
  if (message.fields.size() != message.column_indices.size()) {
    return base::Corrupt(path, 0, "the data file ", message.path, " has ", message.fields.size(),
                         " fields but ", message.column_indices.size(), " columns");
  }
  DataFile file;
  for (size_t i = 0; i < message.fields.size(); ++i) {
    // Negative: a tombstoned field, or a field without a column of its own.
    if (message.fields[i] < 0 || message.column_indices[i] < 0) continue;
    file.columns.emplace(message.fields[i], static_cast<uint32_t>(message.column_indices[i]));
  }
  file.path = std::move(message.path);
  file.base_id = message.base_id;
  file.size_bytes = message.size_bytes;
  return file;
}

arrow::Result<DeletionFile> MakeDeletionFile(const proto::DeletionFileMessage& message,
                                             const Fragment& fragment, const std::string& path) {
  if (message.file_type > 1) {
    return base::NotSupported("fragment ", fragment.id, " of ", path,
                              " has a deletion file of the unknown type ", message.file_type);
  }
  if (message.num_deleted_rows > fragment.physical_rows) {
    return base::Corrupt(path, 0, "fragment ", fragment.id, " has ", fragment.physical_rows,
                         " rows but ", message.num_deleted_rows, " deleted ones");
  }
  DeletionFile file;
  file.type = static_cast<DeletionFileType>(message.file_type);
  file.path = DeletionFileName(fragment.id, message);
  file.base_id = message.base_id;
  file.num_deleted_rows = message.num_deleted_rows;
  return file;
}

arrow::Result<Fragment> MakeFragment(proto::DataFragmentMessage message, bool stable_row_ids,
                                     const std::string& path) {
  if (message.id > kMaxFragmentId || message.physical_rows > kMaxFragmentRows) {
    return base::Corrupt(path, 0, "fragment ", message.id, " with ", message.physical_rows,
                         " rows is beyond what a row address can hold");
  }
  if (message.has_overlays || message.row_ids_in_column) {
    return base::NotSupported("fragment ", message.id, " of ", path, " has ",
                              message.has_overlays ? "overlay files" : "row ids in a hidden column",
                              ", which this build doesn't read");
  }
  Fragment fragment;
  fragment.id = message.id;
  fragment.physical_rows = message.physical_rows;
  for (proto::DataFileMessage& file : message.files) {
    ARROW_ASSIGN_OR_RAISE(DataFile checked, MakeDataFile(std::move(file), path));
    fragment.files.push_back(std::move(checked));
  }
  if (message.deletion_file.has_value()) {
    ARROW_ASSIGN_OR_RAISE(fragment.deletion_file,
                          MakeDeletionFile(*message.deletion_file, fragment, path));
  }
  if (!stable_row_ids) return fragment;
  if (!message.row_ids.has_value()) {
    return base::Corrupt(path, 0, "fragment ", message.id,
                         " has no row ids although the table has stable ones");
  }
  ARROW_ASSIGN_OR_RAISE(fragment.row_ids,
                        RowIdSequence::Parse(*message.row_ids, fragment.physical_rows, path));
  return fragment;
}

arrow::Result<IndexEntry> MakeIndexEntry(proto::IndexMetadataMessage message,
                                         const std::string& path) {
  IndexEntry entry;
  const std::optional<std::string> uuid = UuidText(message.uuid);
  if (!uuid.has_value()) {
    return base::Corrupt(path, 0, "an index entry has a UUID of ", message.uuid.size(), " bytes");
  }
  entry.uuid = *uuid;
  entry.name = std::move(message.name);
  entry.fields = std::move(message.fields);
  entry.dataset_version = message.dataset_version;
  if (!message.fragment_bitmap.empty()) {
    entry.fragments = RoaringBitmap::Parse(message.fragment_bitmap);
    if (!entry.fragments.has_value()) {
      return base::Corrupt(path, 0, "the fragment bitmap of the index '", entry.name,
                           "' is not a Roaring bitmap");
    }
  }
  if (message.has_details) {
    const size_t dot = message.details_url.find_last_of("./");
    entry.details_type = message.details_url.substr(dot == std::string::npos ? 0 : dot + 1);
  }
  entry.details = std::move(message.details);
  entry.index_version = message.index_version;
  entry.base_id = message.base_id;
  for (proto::IndexFileMessage& file : message.files) entry.files.push_back(std::move(file.path));
  entry.has_covering_fields = !message.covering_fields.empty();
  return entry;
}

arrow::Status ReadIndexes(io::RandomReader* reader, uint64_t offset, uint64_t end,
                          std::vector<proto::IndexMetadataMessage>* indexes) {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<arrow::Buffer> bytes,
                        ReadSection(reader, offset, end, "index section"));
  if (!proto::ParseIndexSection(static_cast<std::string_view>(*bytes), indexes)) {
    return base::Corrupt(reader->path(), offset, "malformed IndexSection message");
  }
  return arrow::Status::OK();
}

}  // namespace

std::string DeletionFileName(uint64_t fragment_id, const proto::DeletionFileMessage& file) {
  const bool is_bitmap = file.file_type == static_cast<uint64_t>(DeletionFileType::kBitmap);
  return base::Concat(fragment_id, "-", file.read_version, "-", file.id,
                      is_bitmap ? ".bin" : ".arrow");
}

arrow::Result<Manifest> MakeManifest(proto::ManifestMessage message, const std::string& path) {
  ARROW_RETURN_NOT_OK(CheckReaderFlags(message.reader_feature_flags, path));
  ARROW_RETURN_NOT_OK(CheckDataFormat(&message.data_format, path));
  Manifest manifest;
  manifest.version = message.version;
  manifest.timestamp_s = message.timestamp_seconds;
  manifest.data_format = std::move(message.data_format);
  manifest.stable_row_ids = (message.reader_feature_flags & kStableRowIdsFlag) != 0;
  manifest.tagged_fragment_reuse = (message.reader_feature_flags & kTaggedFragmentReuseFlag) != 0;
  arrow::Result<Schema> schema =
      MakeSchema(std::move(message.fields), std::move(message.schema_metadata));
  if (!schema.ok()) {
    return base::MakeError(base::CodeOf(schema.status()), base::MessageOf(schema.status()), path);
  }
  manifest.schema = std::move(*schema);
  std::unordered_set<uint64_t> ids;
  for (proto::DataFragmentMessage& fragment : message.fragments) {
    if (!ids.insert(fragment.id).second) {
      return base::Corrupt(path, 0, "fragment ", fragment.id, " is listed twice");
    }
    ARROW_ASSIGN_OR_RAISE(Fragment checked,
                          MakeFragment(std::move(fragment), manifest.stable_row_ids, path));
    manifest.fragments.push_back(std::move(checked));
  }
  for (proto::BasePathMessage& base : message.base_paths) {
    manifest.base_paths.emplace(base.id, BasePath{std::move(base.path), base.is_dataset_root});
  }
  return manifest;
}

arrow::Result<ManifestMessages> ReadManifestMessages(io::RandomReader* reader) {
  const std::string& path = reader->path();
  const uint64_t size = reader->size();
  if (size < kFooterBytes + 4) {
    return base::Corrupt(path, 0, "not a manifest: the file has only ", size, " bytes");
  }
  // Most manifests fit into one read of the tail; the index section may lie before it.
  const uint64_t tail_begin = size - std::min(size, kTailBytes);
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> tail,
                        reader->Read({tail_begin, size - tail_begin}));
  const uint8_t* footer = tail->data() + tail->size() - kFooterBytes;
  if (std::memcmp(footer + 12, "LANC", 4) != 0) {
    return base::Corrupt(path, size - 4, "not a manifest: it doesn't end in LANC");
  }
  const auto offset = Load<uint64_t>(footer);
  const uint64_t end = size - kFooterBytes;
  std::shared_ptr<arrow::Buffer> bytes;
  if (offset >= tail_begin && offset <= end && end - offset >= 4) {
    const auto begin = static_cast<int64_t>(offset - tail_begin);
    bytes = arrow::SliceBuffer(tail, begin + 4, static_cast<int64_t>(end - offset - 4));
    if (Load<uint32_t>(tail->data() + begin) != end - offset - 4) bytes = nullptr;
  } else {
    ARROW_ASSIGN_OR_RAISE(bytes, ReadSection(reader, offset, end, "manifest message"));
    if (static_cast<uint64_t>(bytes->size()) != end - offset - 4) bytes = nullptr;
  }
  if (bytes == nullptr) {
    return base::Corrupt(path, offset, "the manifest's length doesn't fit the file of ", size,
                         " bytes");
  }
  ManifestMessages messages;
  messages.message_offset = offset;
  if (!proto::ParseManifest(static_cast<std::string_view>(*bytes), &messages.manifest)) {
    return base::Corrupt(path, offset, "malformed Manifest message");
  }
  if (messages.manifest.index_section.has_value()) {
    // What this build can't read may hold an index section of another kind.
    ARROW_RETURN_NOT_OK(CheckReaderFlags(messages.manifest.reader_feature_flags, path));
    ARROW_RETURN_NOT_OK(
        ReadIndexes(reader, *messages.manifest.index_section, offset, &messages.indexes));
  }
  return messages;
}

arrow::Result<Manifest> ReadManifest(io::RandomReader* reader) {
  ARROW_ASSIGN_OR_RAISE(ManifestMessages messages, ReadManifestMessages(reader));
  return MakeManifest(std::move(messages), reader->path());
}

arrow::Result<Manifest> MakeManifest(ManifestMessages messages, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, MakeManifest(std::move(messages.manifest), path));
  for (proto::IndexMetadataMessage& message : messages.indexes) {
    ARROW_ASSIGN_OR_RAISE(IndexEntry entry, MakeIndexEntry(std::move(message), path));
    manifest.indexes.push_back(std::move(entry));
  }
  return manifest;
}

std::optional<proto::TransactionMessage> ReadInlineTransaction(io::RandomReader* reader,
                                                               const ManifestMessages& messages) {
  const proto::ManifestMessage& manifest = messages.manifest;
  const std::optional<uint64_t> offset = manifest.transaction_section.has_value()
                                             ? manifest.transaction_section
                                             : manifest.old_transaction_section;
  if (!offset.has_value()) return std::nullopt;
  const auto bytes = ReadSection(reader, *offset, messages.message_offset, "transaction");
  proto::TransactionMessage transaction;
  if (!bytes.ok() ||
      !proto::ParseTransaction(static_cast<std::string_view>(**bytes), &transaction)) {
    return std::nullopt;
  }
  return transaction;
}

}  // namespace kinjo::format
