// Rows of a column turned into what an index file holds of them: the partition each belongs to, and
// its code. Codes are records of one size while they travel (shuffle.h); a partition's records then
// become the columns of auxiliary.idx, laid out as the format has them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "index/build_context.h"
#include "index/column_vectors.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// A column of auxiliary.idx, beside `_rowid`: a fixed-size list of `width` elements, or, where
/// width is 0, a float32.
struct CodeColumn {
  std::string name;
  format::ElementType type = format::ElementType::kUint8;
  int64_t width = 0;

  int64_t bytes() const { return width == 0 ? 4 : width * format::ElementBytes(type); }
};

/// The record of a row: its row id, then the bytes of its columns one after another.
inline constexpr int64_t kRowIdBytes = 8;

/// Rows coded, in the order in which they came; those an index doesn't hold are left out.
struct EncodedRows {
  std::vector<uint32_t> partitions;
  std::vector<uint8_t> records;  ///< [num_rows][record_bytes]
  LeftOutRows left_out;
  /// Rows with an element outside the bounds of a scalar quantizer: coded as if on the bound.
  int64_t outside_rows = 0;

  int64_t num_rows() const { return static_cast<int64_t>(partitions.size()); }
};

/// One partition as auxiliary.idx stores it.
struct StoredPartition {
  uint64_t num_rows = 0;
  std::shared_ptr<arrow::Buffer> row_ids;               ///< num_rows uint64
  std::vector<std::shared_ptr<arrow::Buffer>> columns;  ///< of RowEncoder::columns()
};

/// Immutable and thread-safe.
class RowEncoder {
 public:
  /// Codes by this model: `ivf` needs index_type, kind, distance_type and centroids. The quantizer
  /// is of ivf.kind's alternative. A metric, an element type or a combination that IvfSegment::Make
  /// wouldn't read is `not_supported`; a codebook or a rotation that isn't finite or of another
  /// width is `invalid`. Nothing belongs to a centroid that isn't finite; without another it is
  /// `invalid`.
  static arrow::Result<std::unique_ptr<RowEncoder>> Make(const format::IvfModel& ivf,
                                                         const format::QuantizerModel& quantizer);
  virtual ~RowEncoder() = default;

  /// The columns that auxiliary.idx has for this quantizer, in their order.
  virtual const std::vector<CodeColumn>& columns() const = 0;
  int64_t record_bytes() const;
  virtual int64_t num_partitions() const = 0;

  /// Codes rows, whose ids are `row_ids` (parallel to them), on the context's pool; replaces what
  /// was in `out`. Vectors must have the model's element type and width. The same bytes whatever
  /// the threads, the SIMD level and the cut into calls. Best with many thousands of rows a call;
  /// takes about their size again.
  arrow::Status Encode(const ColumnVectors& vectors, std::span<const uint64_t> row_ids,
                       const BuildContext& context, EncodedRows* out) const {
    return EncodeBeside(vectors, row_ids, context, {}, out);
  }
  /// The same, while one of the pool's threads first calls `beside` (unless it is empty), such as
  /// to read the rows that come next. Its error is returned.
  virtual arrow::Status EncodeBeside(const ColumnVectors& vectors,
                                     std::span<const uint64_t> row_ids, const BuildContext& context,
                                     const std::function<arrow::Status()>& beside,
                                     EncodedRows* out) const = 0;

  /// Lays out `num_rows` records of one partition, in their order.
  StoredPartition Store(const uint8_t* records, int64_t num_rows) const;

 protected:
  /// Writes column `column` of the records to `out`, num_rows * bytes() of it. This one row after
  /// row.
  virtual void StoreColumn(size_t column, const uint8_t* records, int64_t num_rows,
                           uint8_t* out) const;
  /// Where the column begins in a record.
  int64_t ColumnOffset(size_t column) const;
};

/// What a reader of these columns would give: for searching what was just coded, and for graphs.
format::PartitionRows ToPartitionRows(const RowEncoder& encoder, const StoredPartition& stored);

}  // namespace kinjo::index
