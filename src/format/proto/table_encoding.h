// The messages of a manifest as bytes: the counterpart of table_messages.h. What a reader left in
// `unread` is written again behind the known fields.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "format/proto/table_messages.h"
#include "format/proto/wire_writer.h"

namespace kinjo::format::proto {

WireWriter EncodeFragment(const DataFragmentMessage& fragment);
WireWriter EncodeIndexFile(const IndexFileMessage& file);
WireWriter EncodeIndexMetadata(const IndexMetadataMessage& index);
WireWriter EncodeIndexSection(std::span<const IndexMetadataMessage> indexes);
WireWriter EncodeManifest(const ManifestMessage& manifest);

/// A lance.file.Field without its children.
WireWriter EncodeField(const Field& field);

/// A RowIdSequence of these ids in this order: ranges where they rise by one, else listed.
/// Segments of other kinds than kRange and kArray are never made.
WireWriter EncodeRowIds(std::span<const uint64_t> ids);

/// The same of the ids first_id, first_id + 1, ...
WireWriter EncodeRowIdRange(uint64_t first_id, uint64_t count);

/// A run of rows that have the same version.
struct VersionRun {
  uint64_t rows = 0;
  uint64_t version = 0;
};
/// A RowDatasetVersionSequence over the rows of a fragment, in order.
WireWriter EncodeRowVersions(std::span<const VersionRun> runs);
/// Parses one. False when it is malformed, or not of ranges that follow each other.
bool ParseRowVersions(std::string_view bytes, std::vector<VersionRun>* runs);

}  // namespace kinjo::format::proto
