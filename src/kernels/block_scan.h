// The fused filter kernel: many queries against many rows, only the survivors stored. It serves the
// exact path, IVF_FLAT, decoded PQ partitions and the ranking of centroids alike.
//
// Rows lie in groups of kGroupRows, dimension-major inside a group: element j of row i of group g
// is rows[(g * dim + j) * kGroupRows + i]. Rows and queries are first moved by a common centre c
// (l2, cosine), so that magnitudes are small wherever the data lies. The score of query q and row x
// is
//     s(q, x) = init[x] - sum_j q'_j x'_j        with  init[x] = |x'|^2 / 2 (l2, cosine)  or  0
//     (dot)
// so that l2 = 2 s + |q'|^2 and dot = 1 + s. A row survives when s <= bound[q].
// The kernel's rounding error is at most ErrorFactor(dim) * (|q'|^2 + |x'|^2): the row's part is
// subtracted from init and the query's part added to bound by the functions below, so no true
// neighbour is ever lost and the row loop has no branch.
#pragma once

#include <cstdint>
#include <vector>

namespace kinjo::kernels {

inline constexpr int64_t kGroupRows = 16;

/// Rounding error of a score, relative to |q'|^2 + |x'|^2 (a bound, for any order of summation).
float ErrorFactor(int64_t dim);

/// Rows in grouped form. Reused from block to block: Reset keeps the capacity.
class GroupedRows {
 public:
  /// Room for `num_rows` rows of `dim`; padding rows of the last group never survive (init = +inf).
  void Reset(int64_t num_rows, int64_t dim);

  /// Stores row `slot`: x[j] - centre[j] for all j (centre may be null = 0). Different slots may be
  /// set from different threads. Elements of x must be finite.
  void SetRow(int64_t slot, const float* x, const float* centre, bool dot);
  void SetRow(int64_t slot, const double* x, const double* centre, bool dot);

  /// Copies row `slot`, as stored (centred), into out[dim].
  void GetRow(int64_t slot, float* out) const;

  int64_t num_rows() const { return num_rows_; }
  int64_t num_groups() const { return (num_rows_ + kGroupRows - 1) / kGroupRows; }
  int64_t dim() const { return dim_; }
  const float* rows() const { return rows_.data(); }
  const float* init() const { return init_.data(); }
  float* mutable_rows() { return rows_.data(); }
  float* mutable_init() { return init_.data(); }

 private:
  int64_t num_rows_ = 0;
  int64_t dim_ = 0;
  std::vector<float> rows_;  // allocate 64-byte aligned
  std::vector<float> init_;
};

/// A query/row pair that survived.
struct Hit {
  uint32_t query;  ///< index into the scanned queries
  uint32_t row;    ///< slot
};

/// One call: queries [0, num_queries) against groups [first_group, first_group + num_groups).
struct BlockScan {
  const float* rows;  ///< GroupedRows::rows()
  const float* init;  ///< GroupedRows::init()
  int64_t dim;
  int64_t first_group;
  int64_t num_groups;
  const float* queries;  ///< [num_queries][dim], centred as the rows
  const float* bounds;   ///< [num_queries]; +inf lets everything through, -inf nothing
  int64_t num_queries;
};

/// Writes every survivor (any order) to `hits`, which has room for num_queries * num_groups *
/// kGroupRows; returns their number.
int64_t ScanBlock(const BlockScan& scan, Hit* hits);

/// Writes all scores: scores[q * stride + row], stride >= num_groups * kGroupRows. Ranking of
/// centroids.
void ScoreBlock(const BlockScan& scan, float* scores, int64_t stride);

/// The bound for a query whose k-th distance so far is `distance` (+inf while fewer than k are
/// held), for l2-like scores: ((distance - |q'|^2) / 2) + slack, rounded up.
float L2Bound(double distance, double query_norm2, int64_t dim);
/// The same for dot (distance = 1 - q.x); slack needs only the norm of the query, rows carry
/// theirs.
float DotBound(double distance, double query_norm2, int64_t dim);

}  // namespace kinjo::kernels
