// The right side as the join sees it: a Lance dataset or a table of files, behind one small face.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrow/record_batch.h"
#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "dataset/dataset.h"
#include "dataset/filter.h"
#include "dataset/row_mask.h"
#include "join/options.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// Rows are named by addresses: of a table, the row's ordinal.
class RightSide {
 public:
  virtual ~RightSide() = default;

  virtual const std::string& uri() const = 0;
  /// "lance", "parquet", ...
  virtual std::string format() const = 0;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  virtual std::optional<int64_t> num_rows() const = 0;
  /// The dataset behind it; null for tables, which have no index.
  virtual std::shared_ptr<dataset::Dataset> dataset() const = 0;
  /// The table behind it; null for datasets.
  virtual const tabular::TableSource* table() const { return nullptr; }

  /// Streams columns with the rows' addresses, in address order, at most `batch_rows` at a time:
  /// those of `rows`, or all when that is null.
  virtual arrow::Result<std::unique_ptr<dataset::Scan>> ScanColumns(
      const std::vector<std::string>& columns,
      const std::optional<std::vector<uint64_t>>& fragment_ids, int64_t batch_rows,
      const std::shared_ptr<const dataset::RowMask>& rows) = 0;
  /// The same for one column.
  arrow::Result<std::unique_ptr<dataset::Scan>> ScanColumn(
      const std::string& column, const std::optional<std::vector<uint64_t>>& fragment_ids,
      int64_t batch_rows, const std::shared_ptr<const dataset::RowMask>& rows) {
    return ScanColumns({column}, fragment_ids, batch_rows, rows);
  }
  /// Evaluates a filter made for schema().
  virtual arrow::Result<dataset::FilterAnswer> EvaluateFilter(const predicate::Predicate& filter,
                                                              base::ThreadPool* pool,
                                                              const base::CancelToken& cancel) = 0;
  /// Reads rows (rising addresses, no duplicates).
  virtual arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> addresses) = 0;
  virtual arrow::Status RowIds(std::span<const uint64_t> addresses,
                               std::span<uint64_t> row_ids) const = 0;

  /// What tells this side from others and from itself after a change (TableSource::Identity).
  virtual arrow::Result<std::vector<tabular::Trait>> Identity() const = 0;

  /// Reads and bytes so far; zeros where they aren't counted.
  virtual int64_t requests() const = 0;
  virtual int64_t bytes_read() const = 0;
  /// What those reads took in all, waiting included; 0 where it isn't known.
  virtual int64_t read_ns() const { return 0; }
};

/// Rows of a scanned batch: of vectors, and of lists of vectors at most.
inline constexpr int64_t kScanBatchRows = 8192;
inline constexpr int64_t kScanBatchRowsMin = 256;
inline constexpr int64_t kScanBatchLists = 512;
/// Elements of the vectors of a batch, from which on it has fewer rows.
inline constexpr int64_t kScanBatchElements = int64_t{1} << 20;

std::unique_ptr<RightSide> MakeDatasetSide(std::shared_ptr<dataset::Dataset> dataset);
std::unique_ptr<RightSide> MakeTableSide(std::shared_ptr<tabular::TableSource> source);

/// `invalid` where the options ask for what only a Lance dataset has; `uri` is the right side's.
arrow::Status RequireNoVersion(const JoinOptions& options, const std::string& uri);

/// Opens a Lance dataset, else a file, folder or glob.
arrow::Result<std::unique_ptr<RightSide>> OpenRightSide(const std::string& uri,
                                                        const JoinOptions& options);

}  // namespace kinjo::join
