// One version of a table as its manifest tells it: schema, fragments and their files, index
// entries. Everything in these structs has been checked: ids are unique, names stay below their
// folder, versions are ones that this build reads, sequences have as many entries as rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/proto/table_messages.h"
#include "format/proto/transaction_messages.h"
#include "format/schema.h"
#include "format/table/dead_rows.h"
#include "format/table/roaring_bitmap.h"
#include "format/table/row_id_sequence.h"
#include "io/random_reader.h"

namespace kinjo::format {

struct DataFile {
  std::string path;  ///< below `data/` (or directly below a base that is no dataset root)
  std::optional<uint32_t> base_id;
  uint64_t size_bytes = 0;  ///< 0 = not told
  ColumnMap columns;
};

struct DeletionFile {
  DeletionFileType type = DeletionFileType::kArrowArray;
  std::string path;  ///< below `_deletions/`
  std::optional<uint32_t> base_id;
  uint64_t num_deleted_rows = 0;  ///< 0 = not told
};

struct Fragment {
  uint64_t id = 0;
  uint64_t physical_rows = 0;
  std::vector<DataFile> files;
  std::optional<DeletionFile> deletion_file;
  std::optional<RowIdSequence> row_ids;  ///< present when the table has stable row ids
};

/// The name of a fragment's deletion file, below `_deletions/`.
std::string DeletionFileName(uint64_t fragment_id, const proto::DeletionFileMessage& file);

/// Another root that files of this version lie in (branches and shallow clones).
struct BasePath {
  std::string path;
  bool is_dataset_root = false;
};

/// One entry of the index section: a segment of an index. Not yet judged usable.
struct IndexEntry {
  std::string uuid;  ///< in text form: the name of its folder below `_indices`
  std::string name;
  std::vector<int32_t> fields;
  uint64_t dataset_version = 0;
  std::optional<RoaringBitmap> fragments;  ///< nothing = the entry doesn't say
  std::optional<std::string>
      details_type;  ///< message name without package, e.g. "BTreeIndexDetails"
  std::string details;
  std::optional<int32_t> index_version;
  std::optional<uint32_t> base_id;
  std::vector<std::string> files;  ///< empty = not told
  bool has_covering_fields = false;
};

struct Manifest {
  uint64_t version = 0;
  int64_t timestamp_s = 0;
  std::string data_format;  ///< "2.0", "2.1", "2.2"
  Schema schema;
  std::vector<Fragment> fragments;  ///< in scan order
  std::map<uint32_t, BasePath> base_paths;
  std::vector<IndexEntry> indexes;
  bool stable_row_ids = false;
  bool tagged_fragment_reuse = false;  ///< addresses in indexes may be stale
};

/// A manifest file as its messages, unchecked but for their shape: what a writer edits.
struct ManifestMessages {
  proto::ManifestMessage manifest;
  std::vector<proto::IndexMetadataMessage> indexes;
  uint64_t message_offset = 0;  ///< of the manifest's message: sections lie before it
};
arrow::Result<ManifestMessages> ReadManifestMessages(io::RandomReader* reader);

/// The transaction that a manifest file holds; nothing when it holds none, or none that can be
/// understood.
std::optional<proto::TransactionMessage> ReadInlineTransaction(io::RandomReader* reader,
                                                               const ManifestMessages& messages);

/// Reads and checks a manifest file. Files or features that this build doesn't read are
/// `not_supported`.
arrow::Result<Manifest> ReadManifest(io::RandomReader* reader);

/// The same from the message itself; `path` is for errors. Leaves `indexes` empty.
arrow::Result<Manifest> MakeManifest(proto::ManifestMessage message, const std::string& path);
/// The same with the index entries.
arrow::Result<Manifest> MakeManifest(ManifestMessages messages, const std::string& path);

}  // namespace kinjo::format
