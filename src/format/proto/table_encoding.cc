#include "format/proto/table_encoding.h"

#include <cstring>

#include "format/proto/file_messages.h"
#include "format/proto/wire.h"

namespace kinjo::format::proto {
namespace {

template <typename T>
void WriteOptional(uint32_t number, const std::optional<T>& value, WireWriter* message) {
  if (value.has_value()) message->PresentNumber(number, static_cast<uint64_t>(*value));
}

WireWriter EncodeDataFile(const DataFileMessage& file) {
  WireWriter message;
  message.Bytes(1, file.path)
      .PackedNumbers<int32_t>(2, file.fields)
      .PackedNumbers<int32_t>(3, file.column_indices)
      .Number(4, file.major_version)
      .Number(5, file.minor_version)
      .Number(6, file.size_bytes);
  WriteOptional(7, file.base_id, &message);
  message.Fields(file.unread);
  return message;
}

WireWriter EncodeDeletionFile(const DeletionFileMessage& file) {
  WireWriter message;
  message.Number(1, file.file_type)
      .Number(2, file.read_version)
      .Number(3, file.id)
      .Number(4, file.num_deleted_rows);
  WriteOptional(7, file.base_id, &message);
  message.Fields(file.unread);
  return message;
}

WireWriter EncodeBasePath(const BasePathMessage& base) {
  WireWriter message;
  message.Number(1, base.id)
      .Bytes(2, base.name)
      .Bool(3, base.is_dataset_root)
      .Bytes(4, base.path)
      .Fields(base.unread);
  return message;
}

/// A U64Segment that is the range [start, end).
WireWriter EncodeRange(uint64_t start, uint64_t end) {
  return WireWriter().Message(static_cast<uint32_t>(U64SegmentMessage::Kind::kRange),
                              WireWriter().Number(1, start).Number(2, end));
}

/// A U64Segment that lists its values.
WireWriter EncodeListed(std::span<const uint64_t> values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  const WireWriter array = WireWriter().Message(3, WireWriter().Bytes(2, bytes));
  return WireWriter().Message(static_cast<uint32_t>(U64SegmentMessage::Kind::kArray), array);
}

bool ParseVersionRun(std::string_view bytes, uint64_t begin, VersionRun* run) {
  std::string span;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1)
      span = WireWriter().PresentBytes(1, reader.field().bytes).text();
    if (reader.field().number == 2) run->version = reader.field().value;
  }
  // A span is one segment: a row id sequence of one.
  std::vector<U64SegmentMessage> segments;
  if (!reader.ok() || !ParseRowIdSequence(span, &segments) || segments.size() != 1) return false;
  const U64SegmentMessage& segment = segments.front();
  if (segment.kind != U64SegmentMessage::Kind::kRange || segment.start != begin ||
      segment.end < begin) {
    return false;
  }
  run->rows = segment.end - begin;
  return true;
}

}  // namespace

WireWriter EncodeField(const Field& field) {
  WireWriter message;
  WriteField(field, &message);
  return message;
}

WireWriter EncodeFragment(const DataFragmentMessage& fragment) {
  WireWriter message;
  message.Number(1, fragment.id);
  for (const DataFileMessage& file : fragment.files) message.Message(2, EncodeDataFile(file));
  if (fragment.deletion_file.has_value()) {
    message.Message(3, EncodeDeletionFile(*fragment.deletion_file));
  }
  message.Number(4, fragment.physical_rows);
  if (fragment.row_ids.has_value()) message.PresentBytes(5, *fragment.row_ids);
  if (fragment.last_updated_at.has_value()) message.PresentBytes(7, *fragment.last_updated_at);
  if (fragment.created_at.has_value()) message.PresentBytes(9, *fragment.created_at);
  message.Fields(fragment.unread);
  return message;
}

WireWriter EncodeIndexFile(const IndexFileMessage& file) {
  return WireWriter().Bytes(1, file.path).Number(2, file.size_bytes);
}

WireWriter EncodeIndexMetadata(const IndexMetadataMessage& index) {
  WireWriter message;
  message.Message(1, WireWriter().Bytes(1, index.uuid))
      .PackedNumbers<int32_t>(2, index.fields)
      .Bytes(3, index.name)
      .Number(4, index.dataset_version)
      .Bytes(5, index.fragment_bitmap);
  if (index.has_details) {
    message.Message(6, WireWriter().Bytes(1, index.details_url).Bytes(2, index.details));
  }
  if (index.index_version.has_value()) {
    message.PresentNumber(7, static_cast<uint64_t>(int64_t{*index.index_version}));
  }
  WriteOptional(8, index.created_at_ms, &message);
  WriteOptional(9, index.base_id, &message);
  for (const IndexFileMessage& file : index.files) message.Message(10, EncodeIndexFile(file));
  message.PackedNumbers<int32_t>(11, index.covering_fields).Fields(index.unread);
  return message;
}

WireWriter EncodeIndexSection(std::span<const IndexMetadataMessage> indexes) {
  WireWriter message;
  for (const IndexMetadataMessage& index : indexes) message.Message(1, EncodeIndexMetadata(index));
  return message;
}

WireWriter EncodeManifest(const ManifestMessage& manifest) {
  WireWriter message;
  for (const Field& field : manifest.fields) message.Message(1, EncodeField(field));
  for (const DataFragmentMessage& fragment : manifest.fragments) {
    message.Message(2, EncodeFragment(fragment));
  }
  message.Number(3, manifest.version).Map(5, manifest.schema_metadata);
  WriteOptional(6, manifest.index_section, &message);
  message.Message(7, WireWriter()
                         .SignedNumber(1, manifest.timestamp_seconds)
                         .SignedNumber(2, manifest.timestamp_nanos));
  message.Number(9, manifest.reader_feature_flags).Number(10, manifest.writer_feature_flags);
  WriteOptional(11, manifest.max_fragment_id, &message);
  message.Bytes(12, manifest.transaction_file);
  message.Message(13,
                  WireWriter().Bytes(1, manifest.writer_library).Bytes(2, manifest.writer_version));
  message.Number(14, manifest.next_row_id);
  message.Message(15, WireWriter().Bytes(1, "lance").Bytes(2, manifest.data_format));
  message.Map(16, manifest.config);
  for (const BasePathMessage& base : manifest.base_paths) message.Message(18, EncodeBasePath(base));
  message.Map(19, manifest.table_metadata);
  WriteOptional(21, manifest.old_transaction_section, &message);
  WriteOptional(23, manifest.transaction_section, &message);
  message.Fields(manifest.unread);
  return message;
}

WireWriter EncodeRowIds(std::span<const uint64_t> ids) {
  // A range takes a few bytes, a listed id eight: short runs are listed together.
  constexpr size_t kShortestRange = 4;
  WireWriter message;
  size_t listed_from = 0;
  const auto write_listed = [&](size_t end) {
    if (end > listed_from) {
      message.Message(1, EncodeListed(ids.subspan(listed_from, end - listed_from)));
    }
  };
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    if (end - begin >= kShortestRange || end - begin == ids.size()) {
      write_listed(begin);
      message.Message(1, EncodeRange(ids[begin], ids[end - 1] + 1));
      listed_from = end;
    }
    begin = end;
  }
  write_listed(ids.size());
  return message;
}

WireWriter EncodeRowIdRange(uint64_t first_id, uint64_t count) {
  return WireWriter().Message(1, EncodeRange(first_id, first_id + count));
}

WireWriter EncodeRowVersions(std::span<const VersionRun> runs) {
  WireWriter message;
  uint64_t begin = 0;
  for (const VersionRun& run : runs) {
    message.Message(
        1, WireWriter().Message(1, EncodeRange(begin, begin + run.rows)).Number(2, run.version));
    begin += run.rows;
  }
  return message;
}

bool ParseRowVersions(std::string_view bytes, std::vector<VersionRun>* runs) {
  uint64_t begin = 0;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number != 1) continue;
    VersionRun run;
    if (!ParseVersionRun(reader.field().bytes, begin, &run)) return false;
    begin += run.rows;
    runs->push_back(run);
  }
  return reader.ok();
}

}  // namespace kinjo::format::proto
