// The messages of a manifest (package lance.table) as plain structs. Parsing only gives bytes a
// shape; format/table checks what the numbers mean. A writer edits these structs and encodes them
// again: what has no member stays, encoded, in `unread`. docs/format/table.md lists the field
// numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/schema.h"

namespace kinjo::format::proto {

struct DataFileMessage {
  std::string path;
  std::vector<int32_t> fields;
  std::vector<int32_t> column_indices;
  uint32_t major_version = 0;
  uint32_t minor_version = 0;
  uint64_t size_bytes = 0;  ///< 0 = not told
  std::optional<uint32_t> base_id;
  std::string unread;
};

struct DeletionFileMessage {
  uint64_t file_type = 0;
  uint64_t read_version = 0;
  uint64_t id = 0;
  uint64_t num_deleted_rows = 0;
  std::optional<uint32_t> base_id;
  std::string unread;
};

struct DataFragmentMessage {
  uint64_t id = 0;
  std::vector<DataFileMessage> files;
  std::optional<DeletionFileMessage> deletion_file;
  uint64_t physical_rows = 0;
  std::optional<std::string> row_ids;          ///< an inline RowIdSequence
  std::optional<std::string> last_updated_at;  ///< an inline RowDatasetVersionSequence
  std::optional<std::string> created_at;       ///< the same
  bool row_ids_in_column = false;              ///< told by `unread`
  bool has_overlays = false;                   ///< told by `unread`
  std::string unread;
};
/// Parses one DataFragment. False when the bytes are malformed.
bool ParseFragment(std::string_view bytes, DataFragmentMessage* fragment);

struct BasePathMessage {
  uint32_t id = 0;
  std::string name;
  bool is_dataset_root = false;
  std::string path;
  std::string unread;
};

struct ManifestMessage {
  std::vector<Field> fields;  ///< depth first, flat
  std::vector<DataFragmentMessage> fragments;
  uint64_t version = 0;
  std::map<std::string, std::string> schema_metadata;
  std::optional<uint64_t> index_section;
  int64_t timestamp_seconds = 0;
  int32_t timestamp_nanos = 0;
  uint64_t reader_feature_flags = 0;
  uint64_t writer_feature_flags = 0;
  std::optional<uint32_t> max_fragment_id;  ///< the highest ever used
  std::string transaction_file;             ///< below `_transactions`; "" = none
  std::string writer_library;
  std::string writer_version;
  std::string data_format;   ///< file version, "" when the message is absent
  uint64_t next_row_id = 0;  ///< with stable row ids
  std::map<std::string, std::string> config;
  std::vector<BasePathMessage> base_paths;
  std::map<std::string, std::string> table_metadata;
  std::optional<uint64_t> transaction_section;      ///< where the inline transaction stands
  std::optional<uint64_t> old_transaction_section;  ///< where writers of old left it
  std::string unread;
};
/// False when the bytes are malformed.
bool ParseManifest(std::string_view bytes, ManifestMessage* manifest);

struct IndexFileMessage {
  std::string path;
  uint64_t size_bytes = 0;
};

struct IndexMetadataMessage {
  std::string uuid;  ///< raw bytes
  std::vector<int32_t> fields;
  std::string name;
  uint64_t dataset_version = 0;
  std::string fragment_bitmap;  ///< Roaring; empty = unknown
  bool has_details = false;
  std::string details_url;
  std::string details;
  std::optional<int32_t> index_version;
  std::optional<uint64_t> created_at_ms;  ///< since the epoch
  std::optional<uint32_t> base_id;
  std::vector<IndexFileMessage> files;
  std::vector<int32_t> covering_fields;
  std::string unread;
};
/// Parses one IndexMetadata. False when the bytes are malformed.
bool ParseIndexMetadata(std::string_view bytes, IndexMetadataMessage* index);
/// Parses an IndexSection. False when the bytes are malformed.
bool ParseIndexSection(std::string_view bytes, std::vector<IndexMetadataMessage>* indexes);

/// lance.index.pb.VectorIndexDetails.
struct VectorIndexDetailsMessage {
  enum class Quantizer : uint8_t { kUnknown, kPq, kSq, kRq, kFlat };
  struct Hnsw {
    uint32_t max_connections = 0;
    uint32_t construction_ef = 0;
    uint32_t max_level = 0;
  };
  uint64_t metric_type = 0;  ///< 0 l2, 1 cosine, 2 dot, 3 hamming
  uint64_t target_partition_size = 0;
  bool has_hnsw = false;
  Hnsw hnsw;
  Quantizer quantizer = Quantizer::kUnknown;
  uint32_t num_bits = 0;         ///< of PQ, SQ and RQ
  uint32_t num_sub_vectors = 0;  ///< of PQ
  std::map<std::string, std::string> runtime_hints;
};
bool ParseVectorIndexDetails(std::string_view bytes, VectorIndexDetailsMessage* details);
/// Requires a known quantizer. The rotation of RQ is the fast one.
std::string EncodeVectorIndexDetails(const VectorIndexDetailsMessage& details);

/// EncodedU64Array: base + offsets of 2 or 4 bytes, or plain values of 8 bytes (base 0).
struct EncodedU64ArrayMessage {
  uint32_t offset_bytes = 8;
  uint64_t base = 0;
  std::string values;
};

struct U64SegmentMessage {
  // The values are the numbers of the message's oneof.
  enum class Kind : uint8_t {
    kUnknown = 0,
    kRange = 1,
    kRangeWithHoles = 2,
    kRangeWithBitmap = 3,
    kSortedArray = 4,
    kArray = 5,
  };
  Kind kind = Kind::kUnknown;
  uint64_t start = 0;
  uint64_t end = 0;  ///< exclusive
  std::string bitmap;
  EncodedU64ArrayMessage array;  ///< holes, or the values
};
/// Parses a RowIdSequence. False when the bytes are malformed.
bool ParseRowIdSequence(std::string_view bytes, std::vector<U64SegmentMessage>* segments);

}  // namespace kinjo::format::proto
