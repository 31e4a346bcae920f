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
// neighbour is ever lost and the row loop has no branch. block_scan.cc derives the bound.
//
// Rows may be kept as bytes as well (GroupedRows::MakeCodes). Where the machine multiplies bytes
// faster than floats the scan then runs on those, with a wider slack: somewhat more survivors,
// still never a lost one.
//
// Odd magnitudes. A row or query whose squared norm could overflow float32 sums gets init = -inf or
// bound = +inf: everything about it survives, and the canonical distance decides. The same happens
// to vectors so tiny that their squares underflow. Far more survivors, never a lost one.
#pragma once

#include <cstdint>

#include "kernels/grouped_rows.h"

namespace kinjo::kernels {

/// Rounding error of a score, relative to |q'|^2 + |x'|^2 (a bound, for any order of summation),
/// including the rounding of q' and x' to float32. +inf for a dim beyond about 4 million.
float ErrorFactor(int64_t dim);

/// A query/row pair that survived.
struct Hit {
  uint32_t query;  ///< index into the scanned queries
  uint32_t row;    ///< slot
};

/// One call: queries [0, num_queries) against groups [first_group, first_group + num_groups).
/// Fastest when num_queries is a multiple of 24 and num_groups of 3 (docs/kernels.md).
struct BlockScan {
  const float* rows;  ///< GroupedRows::rows()
  const float* init;  ///< GroupedRows::init()
  int64_t dim;        ///< at least 1
  int64_t first_group;
  int64_t num_groups;
  const float* queries;  ///< [num_queries][dim], centred as the rows
  const float* bounds;  ///< [num_queries], not NaN; +inf lets everything through, -inf nothing (and
                        ///< costs next to nothing)
  int64_t num_queries;
  RowCodes codes = {};  ///< GroupedRows::codes(); ScanBlock uses them where that is faster
};

/// Writes every survivor (any order) to `hits`, which has room for num_queries * num_groups *
/// kGroupRows; returns their number. Padding rows (init = +inf) never survive. Pure and
/// single-threaded; allocates (up to 256 KiB, or one tile of 8 queries) only for dim > 512.
int64_t ScanBlock(const BlockScan& scan, Hit* hits);

/// Writes all scores: scores[q * stride + row] with row counted from first_group's first, stride >=
/// num_groups * kGroupRows. Ranking of centroids. Ignores bounds. The true score lies in
/// [score - E |q'|^2, score + E (|q'|^2 + 2 |x'|^2)] with E = ErrorFactor(dim); it is +inf for a
/// padding row, and -inf or NaN, which say nothing, for a row too large for float32.
void ScoreBlock(const BlockScan& scan, float* scores, int64_t stride);

/// ScoreBlock over scan.codes, each score with the query's part of the error of its code added:
/// with RowCodes::slack it is an upper bound of the true score, but for E |q|^2. Requires codes
/// that have a slack.
void ScoreCodes(const BlockScan& scan, float* scores, int64_t stride);

/// The bound for a query whose k-th distance so far is `distance` (+inf while fewer than k are
/// held), for l2-like scores: ((distance - |q'|^2) / 2) + slack, rounded up. Every row whose
/// canonical distance, rounded to float32, is <= `distance` survives, also where that is -inf.
/// `query_norm2` is |q'|^2 of the floats that are scanned, in double.
float L2Bound(double distance, double query_norm2, int64_t dim);
/// The same for dot (distance = 1 - q.x); slack needs only the norm of the query, rows carry
/// theirs.
float DotBound(double distance, double query_norm2, int64_t dim);
/// The same for cosine (distance = 1 - cos), for rows and queries that were divided by their norms
/// in double and then moved by one centre.
float CosineBound(double distance, double query_norm2, int64_t dim);

}  // namespace kinjo::kernels
