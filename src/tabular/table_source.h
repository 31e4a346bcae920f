// A table that is read from files: the left side of a join, or a right side that isn't a Lance
// dataset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::dataset {
class Dataset;
}

namespace kinjo::tabular {

/// How to read text and untyped files; the defaults guess from the name's ending.
struct SourceOptions {
  /// "" = by ending; parquet, arrow, csv, jsonl, npy, fvecs, bvecs, ivecs, lance
  std::string format;
  std::optional<uint64_t> lance_version;
  int64_t batch_rows = 8192;  ///< at most this many rows a batch
};

/// One thing that tells a table, or a run, from another or from itself after a change. Both in
/// words for people: `modified`, `2026-01-31T10:00:00.000000000Z`.
struct Trait {
  std::string name;
  std::string value;

  friend bool operator==(const Trait&, const Trait&) = default;
};

/// Immutable after Open; Read and Take may be called again and again (each Read starts over), one
/// thread at a time.
class TableSource {
 public:
  virtual ~TableSource() = default;

  virtual const std::string& uri() const = 0;
  virtual const std::string& format() const = 0;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  /// Rows when the files tell it cheaply.
  virtual std::optional<int64_t> num_rows() const = 0;
  /// The dataset whose live rows these are, in the order of its scans; null for other tables.
  virtual std::shared_ptr<dataset::Dataset> dataset() const { return nullptr; }

  /// Streams the named columns (nullopt: all) in file order, then row order.
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) = 0;

  /// Reads the rows with these ordinals (rising, no duplicates; 0 = the first row that Read gives).
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) = 0;

  /// What tells these rows from others, as it is now and without reading them: place, files with
  /// sizes and times, version. A table that another process couldn't open again is `invalid`.
  virtual arrow::Result<std::vector<Trait>> Identity() const;
};

/// Opens a file, a folder (also Hive-partitioned: key=value folders become columns), a glob or a
/// Lance dataset. .npy becomes a table of one column `vector` (and nothing else). Missing:
/// `not_found`; nothing matches a glob: `not_found`.
arrow::Result<std::shared_ptr<TableSource>> OpenTable(const std::string& uri,
                                                      const SourceOptions& options = {});

/// Wraps an in-memory or foreign stream (read once). Take is `not_supported`.
std::shared_ptr<TableSource> MakeStreamSource(std::shared_ptr<arrow::RecordBatchReader> reader,
                                              std::string name);
/// Wraps rows that are in memory: batches of `schema`, any number of rows each.
std::shared_ptr<TableSource> MakeRowsSource(std::shared_ptr<arrow::Schema> schema,
                                            arrow::RecordBatchVector batches, std::string name);
/// The same of one batch.
std::shared_ptr<TableSource> MakeBatchSource(std::shared_ptr<arrow::RecordBatch> rows,
                                             std::string name);

}  // namespace kinjo::tabular
