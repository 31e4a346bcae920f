// The vectors that an index is built from: a column of some fragments, read batch by batch with the
// row ids that the index stores beside them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/index_params.h"
#include "index/column_vectors.h"

namespace kinjo::dataset {

/// Some vectors; `row_ids` has one for each of them, which repeat where a row has several.
struct VectorBatch {
  index::ColumnVectors vectors;
  std::vector<uint64_t> row_ids;
  std::shared_ptr<arrow::Array> array;      ///< backs `vectors`
  std::shared_ptr<arrow::Buffer> validity;  ///< backs vectors.validity where the array's doesn't
};

/// One pass over vectors. One thread.
class VectorPass {
 public:
  VectorPass(std::shared_ptr<Dataset> dataset, std::unique_ptr<Scan> scan, IndexedVectors column)
      : dataset_(std::move(dataset)), scan_(std::move(scan)), column_(std::move(column)) {}

  /// The next batch; false at the end.
  arrow::Result<bool> Next(VectorBatch* batch);

 private:
  std::shared_ptr<Dataset> dataset_;
  std::unique_ptr<Scan> scan_;
  IndexedVectors column_;
};

/// Immutable; thread-safe.
class VectorSource {
 public:
  /// `column` is a column of float16, float32, float64 or uint8 vectors, or of lists of such, by
  /// name or dotted path; else `invalid`. `fragment_ids`: nothing = all.
  static arrow::Result<VectorSource> Make(std::shared_ptr<Dataset> dataset,
                                          const std::string& column,
                                          std::optional<std::vector<uint64_t>> fragment_ids);

  const IndexedVectors& column() const { return column_; }
  int32_t field_id() const { return field_id_; }
  /// Fragments that are read, rising.
  const std::vector<uint64_t>& fragment_ids() const { return fragment_ids_; }

  /// All vectors, in batches of about `batch_bytes`.
  arrow::Result<VectorPass> ReadAll(int64_t batch_bytes) const;
  /// The vectors of about `count` rows chosen by chance, deleted ones left out; all of them where
  /// there are no more.
  arrow::Result<VectorPass> ReadSample(int64_t count, uint64_t seed, int64_t batch_bytes) const;

 private:
  VectorSource() = default;
  arrow::Status LookAtFirstRows();
  arrow::Result<std::unique_ptr<Scan>> MakeScan(int64_t batch_rows,
                                                std::shared_ptr<const RowMask> rows) const;
  arrow::Result<VectorPass> Read(int64_t batch_rows, std::shared_ptr<const RowMask> rows) const;
  int64_t BatchRows(int64_t batch_bytes) const;

  std::shared_ptr<Dataset> dataset_;
  IndexedVectors column_;
  std::string root_;  ///< the column at the top that is read
  int32_t field_id_ = -1;
  std::vector<uint64_t> fragment_ids_;
  int64_t live_rows_ = 0;
  double vectors_a_row_ = 1;
  double row_bytes_ = 1;  ///< of what is read, about
};

/// The one column at the top that VectorSource::Make takes; `invalid` with their names where there
/// are several or none.
arrow::Result<std::string> OnlyVectorColumn(const Dataset& dataset);

}  // namespace kinjo::dataset
