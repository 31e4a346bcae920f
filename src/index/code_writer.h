// How one quantizer codes rows: the write side of quantizer.h. One class a quantizer; partitions
// are assigned outside, so that kinds are composed and not multiplied.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "index/row_encoder.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// T is float for float16 and float32 columns, double for float64. Immutable and thread-safe.
template <typename T>
class CodeWriter {
 public:
  virtual ~CodeWriter() = default;

  virtual const std::vector<CodeColumn>& columns() const = 0;
  /// Codes rows[count][dim], prepared (PrepareVectors), of these partitions: row i to out + i *
  /// out_stride, the columns one after another. Returns how many rows lay outside its bounds.
  virtual int64_t Write(const T* rows, const uint32_t* partitions, int64_t count, uint8_t* out,
                        int64_t out_stride) const = 0;
  /// Lays a column out, as RowEncoder::StoreColumn; false where that is row after row. `codes` is
  /// the column's part of the first record, one record every `stride`.
  virtual bool Store(size_t /*column*/, const uint8_t* /*codes*/, int64_t /*stride*/,
                     int64_t /*num_rows*/, uint8_t* /*out*/) const {
    return false;
  }
};

/// The coarse model that codes are relative to: centroids[num_partitions][dim], which the writer
/// borrows.
template <typename T>
struct CodeBasis {
  const std::vector<T>& centroids;
  int64_t dim;
  format::ElementType type;
  kernels::Metric metric;

  int64_t num_partitions() const { return static_cast<int64_t>(centroids.size()) / dim; }
};

template <typename T>
std::unique_ptr<CodeWriter<T>> MakeFlatWriter(const CodeBasis<T>& basis);
template <typename T>
arrow::Result<std::unique_ptr<CodeWriter<T>>> MakePqWriter(const CodeBasis<T>& basis,
                                                           const format::PqCodebook& pq);
template <typename T>
std::unique_ptr<CodeWriter<T>> MakeSqWriter(const CodeBasis<T>& basis, const format::SqModel& sq);
template <typename T>
arrow::Result<std::unique_ptr<CodeWriter<T>>> MakeRqWriter(const CodeBasis<T>& basis,
                                                           const format::RqModel& rq);

}  // namespace kinjo::index
