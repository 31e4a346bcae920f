// To which of a set of vectors is each row nearest: centroids for rows, codebook entries for
// sub-vectors. Many rows are compared with all of them by a blocked multiply; where its rounding
// leaves open who is nearest, the canonical distance decides, so that the answer is the same at
// every SIMD level and for every cut into blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/grouped_rows.h"
#include "kernels/nearest_row.h"

namespace kinjo::index {

enum class Nearness : uint8_t {
  kL2,   ///< least squared distance
  kDot,  ///< largest product
};

/// T is float or double. Immutable and thread-safe.
template <typename T>
class NearestVectors {
 public:
  /// `vectors` is [any][dim], and must outlive this. One that isn't finite is nearest to no row; at
  /// least one must be finite.
  NearestVectors(std::span<const T> vectors, int64_t dim, Nearness nearness);

  /// nearest[i] = the vector nearest to row i, rows[i * stride ...], of those equally near the
  /// first. Rows must be finite. In rounded arithmetic of double (canonical_distance.h).
  void Find(const T* rows, int64_t stride, int64_t num_rows, uint32_t* nearest) const;

  /// What Find compares: the canonical squared distance, or minus the product.
  double Distance(const T* row, int64_t vector) const;

 private:
  struct Scratch;

  bool is_dot() const { return nearness_ == Nearness::kDot; }
  double Move(const T* row, float* moved) const;
  uint32_t Settle(const T* row, const float* moved, float limit, Scratch* scratch) const;

  const std::span<const T> vectors_;
  const int64_t dim_;
  const Nearness nearness_;
  std::vector<uint32_t> ids_;  // of each slot: of equal vectors the first alone
  std::vector<T> centre_;      // empty where rows aren't moved
  kernels::GroupedRows rows_;
  double max_norm2_ = 0;  // of the moved vectors
};

}  // namespace kinjo::index
