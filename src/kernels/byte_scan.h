// Rows and queries of bytes, compared by their squared differences: whole numbers, so that the scan
// itself gives the distance and what it keeps needs no second look. For levels that multiply bytes
// in one instruction; elsewhere rows of bytes go through the scan of floats (block_scan.h).
//
// With k = row - 128 and v = query - 128, both in [-128, 127], |k - v|^2 = |k|^2 + |v|^2 - 2 k.v.
// Rows lie in groups of kGroupRows, four elements of each row side by side (RowCodes::codes).
#pragma once

#include <cstdint>
#include <span>

#include "kernels/aligned_vector.h"
#include "kernels/grouped_rows.h"

namespace kinjo::kernels {

/// True where bytes are scanned (at this SIMD level, for this width). All that follows needs it.
bool ScansBytes(int64_t dim);

/// The most that a squared difference can be; it and all sums fit 32 bits.
constexpr int32_t LargestByteL2(int64_t dim) { return static_cast<int32_t>(255 * 255 * dim); }

/// Rows as the scan reads them. Reused from block to block.
class GroupedBytes {
 public:
  /// Room for `num_rows` rows of `dim` >= 1; StoreGroup fills each group once.
  void Reset(int64_t num_rows, int64_t dim);
  /// Stores the rows of a group: kGroupRows pointers to `dim` bytes, of which those beyond the last
  /// row may repeat others. Different groups may be stored from different threads.
  void StoreGroup(int64_t group, const uint8_t* const* rows);

  int64_t num_rows() const { return num_rows_; }
  int64_t num_groups() const { return (num_rows_ + kGroupRows - 1) / kGroupRows; }
  int64_t dim() const { return dim_; }
  const int32_t* words() const { return words_.data(); }  ///< [group][CodeSteps(dim)][kGroupRows]
  const int32_t* norms2() const {
    return norms2_.data();
  }  ///< |k|^2 of each slot; INT32_MAX beyond

 private:
  int64_t num_rows_ = 0;
  int64_t dim_ = 0;
  AlignedVector<int32_t> words_;
  AlignedVector<int32_t> norms2_;
};

/// Queries as the scan reads them. Reused from tile to tile.
class PackedBytes {
 public:
  /// Room for `num_queries` queries of `dim` elements; Set fills each.
  void Reset(int64_t num_queries, int64_t dim);
  void Set(int64_t query, const uint8_t* bytes);
  /// Rows farther than `l2`, from -1 to LargestByteL2, don't survive the scan.
  void SetBound(int64_t query, int32_t l2) { limits_[query] = l2 - norms2_[query]; }

  int64_t num_queries() const { return num_queries_; }
  const int32_t* words() const { return words_.data(); }    ///< [tile][CodeSteps(dim)][kByteTile]
  const int32_t* starts() const { return starts_.data(); }  ///< -128 times the sum of v
  const int32_t* norms2() const { return norms2_.data(); }  ///< |v|^2
  const int32_t* limits() const { return limits_.data(); }  ///< of |k|^2 - 2 k.v

 private:
  int64_t num_queries_ = 0;
  int64_t dim_ = 0;
  AlignedVector<int32_t> words_;
  AlignedVector<int32_t> starts_;
  AlignedVector<int32_t> norms2_;
  AlignedVector<int32_t> limits_;
};

/// Queries of a tile of PackedBytes.
inline constexpr int64_t kByteTile = 8;

/// A pair that survived, and its squared difference.
struct ByteHit {
  uint32_t query;
  uint32_t row;  ///< slot
  int32_t l2;
};

/// All queries against groups [first_group, first_group + num_groups).
struct ByteScan {
  const GroupedBytes* rows;
  const PackedBytes* queries;
  int64_t first_group;
  int64_t num_groups;
};

/// Writes every pair within its query's bound (any order) to `hits`, which has room for all pairs;
/// returns their number. Pure and single-threaded.
int64_t ScanBytes(const ByteScan& scan, ByteHit* hits);

/// Deals the rows out to `sets` * kGroupRows classes, the slots of group g to set g mod `sets`, and
/// writes the least squared difference of each: minima[query][sets * kGroupRows], INT32_MAX for a
/// class without rows. The n-th smallest of them is one that n rows don't exceed.
void LeastBytes(const ByteScan& scan, int64_t sets, int32_t* minima);

}  // namespace kinjo::kernels
