#include "format/proto/table_messages.h"

#include "format/proto/file_messages.h"
#include "format/proto/wire.h"
#include "format/proto/wire_writer.h"

namespace kinjo::format::proto {
namespace {

bool IsBytes(const WireField& field) { return field.type == WireType::kBytes; }

bool ParseDataFile(std::string_view bytes, DataFileMessage* file) {
  WireReader reader(bytes);
  bool good = true;
  while (good && reader.Next()) {
    const WireField& field = reader.field();
    switch (field.number) {
      case 1:
        good = IsBytes(field);
        file->path = field.as_string();
        break;
      case 2:
        good = AppendVarints(field, &file->fields);
        break;
      case 3:
        good = AppendVarints(field, &file->column_indices);
        break;
      case 4:
        file->major_version = field.as_uint32();
        break;
      case 5:
        file->minor_version = field.as_uint32();
        break;
      case 6:
        file->size_bytes = field.value;
        break;
      case 7:
        file->base_id = field.as_uint32();
        break;
      default:
        file->unread += reader.encoded();
        break;
    }
  }
  return good && reader.ok();
}

bool ParseDeletionFile(std::string_view bytes, DeletionFileMessage* file) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    switch (field.number) {
      case 1:
        file->file_type = field.value;
        break;
      case 2:
        file->read_version = field.value;
        break;
      case 3:
        file->id = field.value;
        break;
      case 4:
        file->num_deleted_rows = field.value;
        break;
      case 7:
        file->base_id = field.as_uint32();
        break;
      default:
        file->unread += reader.encoded();
        break;
    }
  }
  return reader.ok();
}

bool ParseBasePath(std::string_view bytes, BasePathMessage* base) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) base->id = field.as_uint32();
    if (field.number == 2) base->name = field.as_string();
    if (field.number == 3) base->is_dataset_root = field.as_bool();
    if (field.number == 4) base->path = field.as_string();
    if (field.number > 4) base->unread += reader.encoded();
  }
  return reader.ok();
}

/// Takes the texts numbered 1 and 2 of a message (writer version, data format, Any).
bool ParseTwoTexts(std::string_view bytes, std::string* first, std::string* second) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) *first = reader.field().as_string();
    if (reader.field().number == 2) *second = reader.field().as_string();
  }
  return reader.ok();
}

bool ParseTimestamp(std::string_view bytes, ManifestMessage* manifest) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) manifest->timestamp_seconds = reader.field().as_int64();
    if (reader.field().number == 2) manifest->timestamp_nanos = reader.field().as_int32();
  }
  return reader.ok();
}

/// The fields that only a writer wants; those that nobody knows are kept.
bool ParseWriterField(const WireReader& reader, ManifestMessage* manifest) {
  const WireField& field = reader.field();
  switch (field.number) {
    case 10:
      manifest->writer_feature_flags = field.value;
      return true;
    case 11:
      manifest->max_fragment_id = field.as_uint32();
      return true;
    case 12:
      manifest->transaction_file = field.as_string();
      return IsBytes(field);
    case 14:
      manifest->next_row_id = field.value;
      return true;
    case 16:
      return IsBytes(field) && ParseMapEntry(field.bytes, &manifest->config);
    case 19:
      return IsBytes(field) && ParseMapEntry(field.bytes, &manifest->table_metadata);
    case 21:
      manifest->old_transaction_section = field.value;
      return true;
    case 23:
      manifest->transaction_section = field.value;
      return true;
    default:
      manifest->unread += reader.encoded();
      return true;
  }
}

bool ParseManifestField(const WireReader& reader, ManifestMessage* manifest) {
  const WireField& field = reader.field();
  std::string file_format;
  switch (field.number) {
    case 1:
      manifest->fields.emplace_back();
      return IsBytes(field) && ParseField(field.bytes, &manifest->fields.back());
    case 2:
      manifest->fragments.emplace_back();
      return IsBytes(field) && ParseFragment(field.bytes, &manifest->fragments.back());
    case 3:
      manifest->version = field.value;
      return true;
    case 5:
      return IsBytes(field) && ParseMapEntry(field.bytes, &manifest->schema_metadata);
    case 6:
      manifest->index_section = field.value;
      return true;
    case 7:
      return IsBytes(field) && ParseTimestamp(field.bytes, manifest);
    case 9:
      manifest->reader_feature_flags = field.value;
      return true;
    case 13:
      return IsBytes(field) &&
             ParseTwoTexts(field.bytes, &manifest->writer_library, &manifest->writer_version);
    case 15:
      return IsBytes(field) && ParseTwoTexts(field.bytes, &file_format, &manifest->data_format);
    case 18:
      manifest->base_paths.emplace_back();
      return IsBytes(field) && ParseBasePath(field.bytes, &manifest->base_paths.back());
    default:
      return ParseWriterField(reader, manifest);
  }
}

bool ParseIndexFile(std::string_view bytes, IndexFileMessage* file) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) file->path = reader.field().as_string();
    if (reader.field().number == 2) file->size_bytes = reader.field().value;
  }
  return reader.ok();
}

bool ParseUuid(std::string_view bytes, std::string* uuid) {
  std::string unused;
  return ParseTwoTexts(bytes, uuid, &unused);
}

bool ParseIndexField(const WireReader& reader, IndexMetadataMessage* index) {
  const WireField& field = reader.field();
  switch (field.number) {
    case 1:
      return IsBytes(field) && ParseUuid(field.bytes, &index->uuid);
    case 2:
      return AppendVarints(field, &index->fields);
    case 3:
      index->name = field.as_string();
      return IsBytes(field);
    case 4:
      index->dataset_version = field.value;
      return true;
    case 5:
      index->fragment_bitmap = field.as_string();
      return IsBytes(field);
    case 6:
      index->has_details = true;
      return IsBytes(field) && ParseTwoTexts(field.bytes, &index->details_url, &index->details);
    case 7:
      index->index_version = field.as_int32();
      return true;
    case 8:
      index->created_at_ms = field.value;
      return true;
    case 9:
      index->base_id = field.as_uint32();
      return true;
    case 10:
      index->files.emplace_back();
      return IsBytes(field) && ParseIndexFile(field.bytes, &index->files.back());
    case 11:
      return AppendVarints(field, &index->covering_fields);
    default:
      index->unread += reader.encoded();
      return true;
  }
}

bool ParseOffsets(std::string_view bytes, EncodedU64ArrayMessage* array) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number == 1) array->base = reader.field().value;
    if (reader.field().number == 2) array->values = reader.field().as_string();
  }
  return reader.ok();
}

bool ParseEncodedArray(std::string_view bytes, EncodedU64ArrayMessage* array) {
  constexpr uint32_t kOffsetBytes[] = {0, 2, 4, 8};
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number < 1 || field.number > 3) continue;
    array->offset_bytes = kOffsetBytes[field.number];
    if (!IsBytes(field) || !ParseOffsets(field.bytes, array)) return false;
  }
  return reader.ok();
}

/// The body of a range, with the holes or the bitmap where `kind` has them.
bool ParseRange(std::string_view bytes, U64SegmentMessage* segment) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) segment->start = field.value;
    if (field.number == 2) segment->end = field.value;
    if (field.number != 3) continue;
    if (!IsBytes(field)) return false;
    if (segment->kind == U64SegmentMessage::Kind::kRangeWithBitmap) {
      segment->bitmap = field.as_string();
    } else if (!ParseEncodedArray(field.bytes, &segment->array)) {
      return false;
    }
  }
  return reader.ok();
}

bool ParseSegment(std::string_view bytes, U64SegmentMessage* segment) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number < 1 || field.number > 5) continue;
    if (!IsBytes(field)) return false;
    segment->kind = static_cast<U64SegmentMessage::Kind>(field.number);
    const bool is_array = field.number >= 4;
    if (is_array ? !ParseEncodedArray(field.bytes, &segment->array)
                 : !ParseRange(field.bytes, segment)) {
      return false;
    }
  }
  return reader.ok();
}

void ParseHnswDetails(std::string_view bytes, VectorIndexDetailsMessage::Hnsw* hnsw) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) hnsw->max_connections = field.as_uint32();
    if (field.number == 2) hnsw->construction_ef = field.as_uint32();
    if (field.number == 3) hnsw->max_level = field.as_uint32();
  }
}

void ParseQuantizerDetails(std::string_view bytes, VectorIndexDetailsMessage* details) {
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) details->num_bits = field.as_uint32();
    if (field.number == 2) details->num_sub_vectors = field.as_uint32();
  }
}

}  // namespace

bool ParseFragment(std::string_view bytes, DataFragmentMessage* fragment) {
  WireReader reader(bytes);
  bool good = true;
  while (good && reader.Next()) {
    const WireField& field = reader.field();
    switch (field.number) {
      case 1:
        fragment->id = field.value;
        break;
      case 2:
        fragment->files.emplace_back();
        good = IsBytes(field) && ParseDataFile(field.bytes, &fragment->files.back());
        break;
      case 3:
        fragment->deletion_file.emplace();
        good = IsBytes(field) && ParseDeletionFile(field.bytes, &*fragment->deletion_file);
        break;
      case 4:
        fragment->physical_rows = field.value;
        break;
      case 5:
        good = IsBytes(field);
        fragment->row_ids = field.as_string();
        break;
      case 7:
        good = IsBytes(field);
        fragment->last_updated_at = field.as_string();
        break;
      case 9:
        good = IsBytes(field);
        fragment->created_at = field.as_string();
        break;
      case 11:
        fragment->has_overlays = true;
        fragment->unread += reader.encoded();
        break;
      case 12:
        fragment->row_ids_in_column = true;
        fragment->unread += reader.encoded();
        break;
      default:
        fragment->unread += reader.encoded();
        break;
    }
  }
  return good && reader.ok();
}

bool ParseIndexMetadata(std::string_view bytes, IndexMetadataMessage* index) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!ParseIndexField(reader, index)) return false;
  }
  return reader.ok();
}

bool ParseManifest(std::string_view bytes, ManifestMessage* manifest) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!ParseManifestField(reader, manifest)) return false;
  }
  return reader.ok();
}

bool ParseIndexSection(std::string_view bytes, std::vector<IndexMetadataMessage>* indexes) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number != 1) continue;
    indexes->emplace_back();
    if (!IsBytes(reader.field()) || !ParseIndexMetadata(reader.field().bytes, &indexes->back())) {
      return false;
    }
  }
  return reader.ok();
}

bool ParseVectorIndexDetails(std::string_view bytes, VectorIndexDetailsMessage* details) {
  using Quantizer = VectorIndexDetailsMessage::Quantizer;
  WireReader reader(bytes);
  while (reader.Next()) {
    const WireField& field = reader.field();
    if (field.number == 1) details->metric_type = field.value;
    if (field.number == 2) details->target_partition_size = field.value;
    if (field.number == 3) {
      details->has_hnsw = true;
      ParseHnswDetails(field.bytes, &details->hnsw);
    }
    if (field.number == 4) details->quantizer = Quantizer::kPq;
    if (field.number == 5) details->quantizer = Quantizer::kSq;
    if (field.number == 6) details->quantizer = Quantizer::kRq;
    if (field.number == 8) details->quantizer = Quantizer::kFlat;
    if (field.number >= 4 && field.number <= 6) ParseQuantizerDetails(field.bytes, details);
    // Odd hints hint at nothing.
    if (field.number == 9) ParseMapEntry(field.bytes, &details->runtime_hints);
  }
  return reader.ok();
}

std::string EncodeVectorIndexDetails(const VectorIndexDetailsMessage& details) {
  using Quantizer = VectorIndexDetailsMessage::Quantizer;
  WireWriter message;
  message.Number(1, details.metric_type).Number(2, details.target_partition_size);
  if (details.has_hnsw) {
    message.Message(3, WireWriter()
                           .Number(1, details.hnsw.max_connections)
                           .Number(2, details.hnsw.construction_ef)
                           .Number(3, details.hnsw.max_level));
  }
  WireWriter quantizer;
  if (details.quantizer != Quantizer::kFlat) quantizer.Number(1, details.num_bits);
  if (details.quantizer == Quantizer::kPq) quantizer.Number(2, details.num_sub_vectors);
  constexpr uint32_t kFields[] = {0, 4, 5, 6, 8};
  message.Message(kFields[static_cast<size_t>(details.quantizer)], quantizer);
  message.Map(9, details.runtime_hints);
  return std::move(message).text();
}

bool ParseRowIdSequence(std::string_view bytes, std::vector<U64SegmentMessage>* segments) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field().number != 1) continue;
    segments->emplace_back();
    if (!IsBytes(reader.field()) || !ParseSegment(reader.field().bytes, &segments->back())) {
      return false;
    }
  }
  return reader.ok();
}

}  // namespace kinjo::format::proto
