#include "format/table/manifest_writer.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "format/proto/table_encoding.h"
#include "format/table/feature_flags.h"

namespace kinjo::format {
namespace {

// The footer: where the manifest's length stands, the version 0.2 of the container, the magic.
constexpr std::string_view kFooterEnd("\0\0\2\0LANC", 8);

template <typename T>
void AppendNumber(T value, std::string* file) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  file->append(bytes, sizeof(T));
}

/// A message with its length before it; gives where it begins.
uint64_t AppendSection(std::string_view message, std::string* file) {
  const uint64_t offset = file->size();
  AppendNumber(static_cast<uint32_t>(message.size()), file);
  file->append(message);
  return offset;
}

}  // namespace

std::string EncodeManifestFile(ManifestMessages* messages, std::string_view transaction) {
  proto::ManifestMessage& manifest = messages->manifest;
  std::string file;
  manifest.index_section.reset();
  manifest.transaction_section.reset();
  manifest.old_transaction_section.reset();
  if (!messages->indexes.empty()) {
    manifest.index_section =
        AppendSection(proto::EncodeIndexSection(messages->indexes).text(), &file);
  }
  if (!transaction.empty()) manifest.transaction_section = AppendSection(transaction, &file);
  messages->message_offset = AppendSection(proto::EncodeManifest(manifest).text(), &file);
  AppendNumber(messages->message_offset, &file);
  return file.append(kFooterEnd);
}

void SetFeatureFlags(proto::ManifestMessage* manifest) {
  const uint64_t told = kDeletionFilesFlag | kVersion2FilesFlag | kTableConfigFlag | kBasePathsFlag;
  const bool has_deletions = std::any_of(
      manifest->fragments.begin(), manifest->fragments.end(),
      [](const proto::DataFragmentMessage& each) { return each.deletion_file.has_value(); });
  const uint64_t both = (has_deletions ? kDeletionFilesFlag : 0) |
                        (manifest->base_paths.empty() ? 0 : kBasePathsFlag);
  manifest->reader_feature_flags = (manifest->reader_feature_flags & ~told) | both;
  manifest->writer_feature_flags = (manifest->writer_feature_flags & ~told) | both |
                                   (manifest->config.empty() ? 0 : kTableConfigFlag);
}

}  // namespace kinjo::format
