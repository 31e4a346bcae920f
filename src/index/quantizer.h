// What a segment's codes mean. One class a quantizer; the metric is an enum in it and the coarse
// partitioning lies outside, so that kinds are composed and not multiplied.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "format/index_file/index_files.h"
#include "index/ivf_segment.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// T is float for float16 and float32 indexes, double for float64. Immutable and thread-safe.
/// `centroid` is that of the partition at hand, [dim]. The methods are those of IvfSegment.
template <typename T>
class Quantizer {
 public:
  virtual ~Quantizer() = default;

  virtual bool is_exact() const = 0;
  virtual bool scans_bytes() const { return false; }
  /// Making a partition's bytes costs about as much as scanning its floats for ten queries.
  virtual int64_t queries_for_codes() const { return 12; }
  /// Sets `coded` (and `bytes`) from `values`, where rows aren't compared with those.
  virtual void CodeQueries(QueryBlock* /*block*/) const {}
  /// Fills `addresses` and `storage_position` of `out` with the rows that Decode keeps; `codes` and
  /// `num_stored` are set before the call.
  virtual void KeepRows(std::span<const uint64_t> addresses, uint64_t dead,
                        DecodedPartition* out) const;
  /// Fills `rows` (or `bytes`), `addresses` and `storage_position`; the rest of `out` is set before
  /// the call.
  virtual void Decode(const T* centroid, const format::PartitionRows& stored,
                      std::span<const uint64_t> addresses, uint64_t dead,
                      DecodedPartition* out) const = 0;
  virtual double MoveQuery(const T* centroid, const double* query, const DecodedPartition& rows,
                           float* moved) const = 0;
  virtual double Distance(const T* centroid, const double* query, const DecodedPartition& rows,
                          int64_t slot) const = 0;
};

/// Codes that are the vectors themselves.
template <typename T>
std::unique_ptr<Quantizer<T>> MakeFlatQuantizer(const format::IndexFiles& files,
                                                kernels::Metric metric);

/// Codes of sub-vectors, of the residual for l2 and cosine. A codebook that isn't finite is
/// `corrupt`.
template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakePqQuantizer(const format::IndexFiles& files,
                                                             kernels::Metric metric);

/// Codes of elements, one byte each. Bounds so far apart that float32 can't hold their distance are
/// `corrupt`.
template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakeSqQuantizer(const format::IndexFiles& files,
                                                             kernels::Metric metric);

/// RaBitQ: codes of the rotated residual, with two factors a row. A rotation that isn't finite is
/// `corrupt`.
template <typename T>
arrow::Result<std::unique_ptr<Quantizer<T>>> MakeRqQuantizer(const format::IndexFiles& files,
                                                             kernels::Metric metric);

/// Keeps the stored rows, from `first_stored` on, whose address isn't `dead`: fills `addresses` and
/// `storage_position`.
void KeepLiveRows(std::span<const uint64_t> addresses, uint64_t dead, DecodedPartition* out);

template <typename T>
void Quantizer<T>::KeepRows(std::span<const uint64_t> addresses, uint64_t dead,
                            DecodedPartition* out) const {
  KeepLiveRows(addresses, dead, out);
}

}  // namespace kinjo::index
