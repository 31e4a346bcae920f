// One version of a Lance dataset as a snapshot: schema, fragments, live rows, scan, take, indexes.
// The only room where index files meet the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "format/schema.h"
#include "format/table/tags.h"
#include "io/random_reader.h"

namespace kinjo::format {
class IndexFiles;
}
namespace kinjo::index {
class IvfSegment;
}

namespace kinjo::dataset {

class RowMask;
class ScalarSegment;

/// (fragment id << 32) | physical row offset.
using RowAddress = uint64_t;

struct OpenOptions {
  /// A version number; nothing = the latest.
  std::optional<uint64_t> version;
  /// Of the version to open, instead of its number; "" = none. A tag of a branch opens that branch.
  /// A text with a colon is a time, "2026-02-28T23:59:59+01:00": the newest version made by then.
  std::string tag;
};

/// One fragment of the snapshot, deletions applied.
struct FragmentInfo {
  uint64_t id = 0;
  uint64_t physical_rows = 0;
  uint64_t deleted_rows = 0;
  std::vector<std::string> files;  ///< data file names, without the directory
};

/// One column of a data file.
struct StoredColumn {
  std::string name;  ///< dotted path of what it stores; "" of a field that was dropped
  uint32_t number = 0;
  std::vector<std::string> pages;  ///< how each page is encoded, and its rows
};

/// One data file of the snapshot.
struct StoredFile {
  uint64_t fragment_id = 0;
  std::string path;  ///< as the manifest has it
  std::string uri;   ///< where it lies
  uint64_t size_bytes = 0;
  std::string format_version;  ///< "2.0", "2.1", "2.2"
  std::vector<StoredColumn> columns;
};

/// One segment (delta) of an index.
struct IndexSegmentInfo {
  std::string uuid;
  uint64_t dataset_version = 0;
  std::vector<uint64_t> fragment_ids;  ///< covered and still in the snapshot, rising
  /// Its row ids are row addresses, also where the dataset has stable row ids.
  bool lists_addresses = false;
};

/// How the graphs of an IVF_HNSW_* index were built, by its details.
struct IndexGraphs {
  uint32_t m = 0;
  uint32_t ef_construction = 0;
  uint32_t max_level = 0;
};

/// One vector index: all segments that share a name.
struct IndexInfo {
  std::string name;
  std::string column;  ///< dotted path
  std::string type;    ///< "IVF_PQ", ...; from the index files when the manifest doesn't say
  std::string metric;  ///< "l2", ...
  std::vector<IndexSegmentInfo> segments;
  /// Why this build can't use it; empty when it can.
  std::string unusable_reason;
  std::optional<IndexGraphs> graphs = std::nullopt;  ///< nothing where the details don't say
};

enum class ScalarIndexKind : uint8_t { kBtree, kBitmap };

/// One scalar index of a kind that this build reads: all segments that share a name.
struct ScalarIndexInfo {
  std::string name;
  std::string column;  ///< dotted path
  int32_t field_id = -1;
  ScalarIndexKind kind = ScalarIndexKind::kBtree;
  std::vector<IndexSegmentInfo> segments;
  /// Why this build can't use it; empty when it can.
  std::string unusable_reason;
};

/// A batch of a scan: live rows only, with the address of each.
struct ScanBatch {
  std::shared_ptr<arrow::RecordBatch> batch;
  std::vector<RowAddress> addresses;
};

/// Pull iterator over live rows in the snapshot's order: fragments as fragments() lists them, then
/// by row. (After a compaction that is not the order of addresses.) One thread.
class Scan {
 public:
  virtual ~Scan() = default;
  /// The next batch, or a null `batch` at the end.
  virtual arrow::Result<ScanBatch> Next() = 0;
};

struct ScanOptions {
  std::vector<std::string> columns;  ///< top-level names, in output order
  /// Fragments to read; nothing = all.
  std::optional<std::vector<uint64_t>> fragment_ids;
  int64_t batch_rows = 8192;  ///< at most this many physical rows a batch
  /// Rows to read, deleted ones left out; null = all. A batch then has at most `batch_rows` of
  /// them, however far apart they lie.
  std::shared_ptr<const RowMask> rows;
};

/// An open snapshot. Immutable; thread-safe; keeps answering for its version while writers go on.
class Dataset {
 public:
  /// Missing path, version or tag: `not_found`; a path without `_versions`: `invalid` ("not a Lance
  /// dataset"); unknown feature flags and old formats: `not_supported`.
  static arrow::Result<std::shared_ptr<Dataset>> Open(const std::string& uri,
                                                      const OpenOptions& options = {});
  virtual ~Dataset() = default;

  virtual const std::string& uri() const = 0;
  virtual uint64_t version() const = 0;
  virtual std::vector<uint64_t> versions() const = 0;  ///< all that exist now, rising
  /// The tags that exist now, by name, read when asked for.
  virtual arrow::Result<std::vector<format::Tag>> ListTags() const;
  virtual const std::string& data_format_version() const = 0;
  virtual const format::Schema& schema() const = 0;
  virtual std::shared_ptr<arrow::Schema> arrow_schema() const = 0;
  virtual uint64_t num_rows() const = 0;  ///< live rows
  virtual const std::vector<FragmentInfo>& fragments() const = 0;
  virtual const io::IoCounters& io_counters() const = 0;
  /// Opens every data file and tells how it is stored.
  virtual arrow::Result<std::vector<StoredFile>> ListFiles();

  virtual arrow::Result<std::unique_ptr<Scan>> MakeScan(const ScanOptions& options) = 0;

  /// Reads columns of the rows at `addresses` (rising, no duplicates, live). Files are read in
  /// coalesced ranges.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const RowAddress> addresses) = 0;

  /// The vector indexes of the snapshot in manifest order.
  virtual const std::vector<IndexInfo>& vector_indexes() const = 0;
  /// Opens one segment's files. Cached: the same segment is opened once.
  virtual arrow::Result<std::shared_ptr<index::IvfSegment>> OpenSegment(const IndexInfo& index,
                                                                        size_t segment) = 0;

  /// Opens the same files as they are stored. A dataset may have none.
  virtual arrow::Result<std::shared_ptr<format::IndexFiles>> OpenIndexFiles(const IndexInfo& index,
                                                                            size_t segment);

  /// The scalar indexes that may answer filters, in manifest order. A dataset may have none.
  virtual const std::vector<ScalarIndexInfo>& scalar_indexes() const;
  /// Opens one segment's files.
  virtual arrow::Result<std::shared_ptr<ScalarSegment>> OpenScalarSegment(
      const ScalarIndexInfo& index, size_t segment);

  /// Turns index row ids into addresses of live rows: entry i becomes the address of row_ids[i]
  /// when that row is live and lies in one of the segment's fragments, else kDeadRow. (With stable
  /// row ids this looks ids up.)
  virtual arrow::Status ResolveRowIds(const IndexSegmentInfo& segment,
                                      std::span<const uint64_t> row_ids,
                                      std::span<RowAddress> addresses) const = 0;

  /// Turns addresses of live rows into row ids (`_rowid`).
  virtual arrow::Status RowIds(std::span<const RowAddress> addresses,
                               std::span<uint64_t> row_ids) const = 0;
};

/// No row has this address: fragment ids are below 2^32 - 1.
inline constexpr RowAddress kDeadRow = ~RowAddress{0};

}  // namespace kinjo::dataset
