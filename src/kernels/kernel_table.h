// The kernels of one SIMD level as plain function pointers. The bodies are in the *-inl.h files,
// compiled once a level by kernel_table.cc; simd_level.cc chooses a table once. Only files of this
// room include this one.
#pragma once

#include <cstdint>

namespace kinjo::kernels {

struct BlockScan;
struct ByteHit;
struct ByteRows;
struct ByteScan;
struct CodeFit;
struct Hit;
struct NearestRow;
struct NearestScan;
struct ScaledRows;

/// Bytes of scratch that the block scans need at least, for rows of `dim`.
inline constexpr int64_t kMaxQueryTile = 8;
constexpr int64_t MinScratchBytes(int64_t dim) { return dim * kMaxQueryTile * 4; }

/// Queries whose best row is sought together, at most.
inline constexpr int kNearestPanelQueries = 64;

/// One level's kernels. What each does is said at the public function of the same idea.
struct KernelTable {
  double (*l2_ff)(const float* a, const float* b, int64_t dim);
  double (*l2_df)(const double* a, const float* b, int64_t dim);
  double (*l2_dd)(const double* a, const double* b, int64_t dim);
  double (*l2_residual)(const double* query, const float* centre, const float* row, int64_t dim);
  double (*dot_ff)(const float* a, const float* b, int64_t dim);
  double (*dot_df)(const double* a, const float* b, int64_t dim);
  double (*dot_dd)(const double* a, const double* b, int64_t dim);

  void (*l2_hits_ff)(const float* queries, const float* rows, int64_t dim, const Hit* hits,
                     int64_t count, double* out);
  void (*l2_hits_df)(const double* queries, const float* rows, int64_t dim, const Hit* hits,
                     int64_t count, double* out);
  void (*dot_hits_ff)(const float* queries, const float* rows, int64_t dim, const Hit* hits,
                      int64_t count, double* out);
  void (*dot_hits_df)(const double* queries, const float* rows, int64_t dim, const Hit* hits,
                      int64_t count, double* out);

  double (*move_query_f)(const double* query, const float* centre, int64_t dim, float* moved);
  double (*move_query_d)(const double* query, const double* centre, int64_t dim, float* moved);

  /// By NodeElement.
  using NodeSumsFunction = void (*)(const float* query, const void* rows, int64_t dim,
                                    const uint32_t* nodes, int64_t count, float* out);
  NodeSumsFunction node_l2[3];
  NodeSumsFunction node_dot[3];
  NodeSumsFunction node_cosine[2];

  int64_t (*hamming)(const uint8_t* a, const uint8_t* b, int64_t bytes);

  /// `scratch` is 64-byte aligned, of `scratch_bytes` >= MinScratchBytes(dim).
  int64_t (*scan_block)(const BlockScan& scan, void* scratch, int64_t scratch_bytes, Hit* hits);
  void (*score_block)(const BlockScan& scan, void* scratch, int64_t scratch_bytes, float* scores,
                      int64_t stride);
  /// scan_block over scan.codes. Null where the level has no instruction that makes it faster.
  int64_t (*scan_codes)(const BlockScan& scan, void* scratch, int64_t scratch_bytes, Hit* hits);
  /// score_block over scan.codes, plus the query's part of the error. Null where scan_codes is.
  void (*score_codes)(const BlockScan& scan, void* scratch, int64_t scratch_bytes, float* scores,
                      int64_t stride);
  /// Turns one group into codes[CodeSteps(dim)][16][4], scales[16] and code_init[16]. Null where
  /// scan_codes is.
  void (*make_group_codes)(const float* group, const float* init, int64_t dim, uint8_t* codes,
                           float* scales, float* code_init);
  /// Rows and queries that are bytes themselves. Null where scan_codes is.
  int64_t (*scan_bytes)(const ByteScan& scan, ByteHit* hits);
  void (*least_bytes)(const ByteScan& scan, int64_t sets, int32_t* minima);
  /// Turns 16 rows into words[CodeSteps(dim)][16] and norms2[16].
  void (*group_rows_of_bytes)(const uint8_t* const* rows, int64_t dim, int32_t* words,
                              int32_t* norms2);
  /// The sum and the squared norm of bytes - 128.
  void (*sum_query_bytes)(const uint8_t* bytes, int64_t dim, int32_t* sum, int32_t* norm2);

  /// `scratch` is 64-byte aligned, of kNearestPanelQueries * dim floats.
  void (*find_nearest)(const NearestScan& scan, float* scratch, NearestRow* out);
  /// Sums of element * code and of code^2, kFitLanes of each.
  void (*fit_sums)(const CodeFit& fit, float scale, float* products, float* squares);
  /// `span` is the largest power of two up to dim, `scale` what its transform is multiplied by.
  void (*rotate_rows)(const uint8_t* signs, int64_t dim, int64_t span, double scale, double* x);

  /// Writes 16 rows of x (row-major, `dim` apart) minus centre (may be null) as one group into
  /// group[dim][16] and their squared norms into norms2[16].
  void (*fill_group)(const float* x, const float* centre, int64_t dim, float* group,
                     double* norms2);
  /// The same from codes: fill group[dim][16] and norms2[16].
  void (*group_bytes)(const ByteRows& from, int64_t dim, float* group, double* norms2);
  void (*group_scaled)(const ScaledRows& from, int64_t dim, float* group, double* norms2);
  void (*double_codes)(const uint8_t* signs, const uint8_t* values, int ex_bits, int64_t count,
                       float* out);
};

/// The table of the level in use.
const KernelTable& Kernels();

/// Highway's bits of the levels that this build has, and the table of one of them.
int64_t CompiledTargets();
const KernelTable* KernelTableOf(int64_t target);

}  // namespace kinjo::kernels
