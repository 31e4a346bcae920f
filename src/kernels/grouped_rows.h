// Rows as the block scan multiplies them: in groups of 16, dimension-major inside a group, moved by
// a centre, each with the start value of its scores.
#pragma once

#include <cstdint>

#include "kernels/aligned_vector.h"

namespace kinjo::kernels {

inline constexpr int64_t kGroupRows = 16;

/// The start value of the scores of a stored row with squared norm `norm2` (in double, of the
/// floats as stored), less the row's part of the error (block_scan.h). -inf, which always survives,
/// for a row too large for float32 arithmetic.
float RowInit(double norm2, int64_t dim, bool dot);
/// The same for scores that start anywhere: start - q'.x' is what a score would be without error.
/// (The other is this one from norm2 / 2, or from 0.)
float RowInitFrom(double start, double norm2, int64_t dim);

/// Writes query - centre (null = 0), subtracted in double, as the floats that are scanned; returns
/// their squared norm in double, the same bits at every SIMD level.
double MoveQuery(const double* query, const float* centre, int64_t dim, float* moved);
double MoveQuery(const double* query, const double* centre, int64_t dim, float* moved);

/// Rows as bytes, for the scan by integers: element j of row i of a group is close to
/// scale[i] * (codes[j / 4][i][j % 4] - 128). All null where rows have no codes.
struct RowCodes {
  const uint8_t* codes = nullptr;  ///< [group][CodeSteps(dim)][kGroupRows][4]
  const float* scales = nullptr;   ///< [slot]
  const float* init = nullptr;     ///< [slot]; less the row's part of the error of its code
  /// [slot]; what makes a score that is too low by the error of both sides at least as high as the
  /// true one, but for the query's part. Null where the floats are there to score by.
  const float* slack = nullptr;
};

/// The inits of rows that are known by their codes alone: start - q'.x' is a true score, with start
/// norms2[i] / 2 or 0 (dot), and rests2[i] the squared norm of what the code leaves of x'. Squared
/// norms may be up to 2^100.
void CodedInits(const double* norms2, const double* rests2, int64_t count, int64_t dim, bool dot,
                float* inits);
/// True where the scan runs on bytes (at this SIMD level, for this width).
bool ScansCodes(int64_t dim);

/// Steps of four elements in a coded row.
constexpr int64_t CodeSteps(int64_t dim) { return (dim + 3) / 4; }

/// Rows in grouped form. Reused from block to block: Reset keeps the capacity.
class GroupedRows {
 public:
  /// Room for `num_rows` rows of `dim` >= 1, whose content is unset; padding rows of the last group
  /// never survive (init = +inf). A caller may give a row that must never survive the same init.
  /// `with_codes` makes room for MakeCodes.
  void Reset(int64_t num_rows, int64_t dim, bool with_codes = false);

  /// Room for rows that are bytes only: the caller writes their codes into mutable_codes() and says
  /// by SetCodedRows what they stand for. There are no floats then: rows(), SetRow and the like
  /// must not be used. Requires ScansCodes(dim).
  void ResetCoded(int64_t num_rows, int64_t dim);
  uint8_t* mutable_codes() { return codes_.data(); }
  /// Of slots [first_slot, first_slot + count), at most kGroupRows: a row is `scale` times its code
  /// and a rest of squared norm rests2[i].
  void SetCodedRows(int64_t first_slot, int64_t count, float scale, const double* norms2,
                    const double* rests2, bool dot);

  /// Stores row `slot`: x[j] - centre[j] for all j (centre may be null = 0; it must be for dot).
  /// Different slots may be set from different threads. Elements of x must be finite; a difference
  /// that overflows is allowed, such a row always survives.
  void SetRow(int64_t slot, const float* x, const float* centre, bool dot);
  void SetRow(int64_t slot, const double* x, const double* centre, bool dot);

  /// SetRow for slots [first_slot, first_slot + count) from row-major x[count][dim]; several times
  /// faster, best from a multiple of kGroupRows on.
  void SetRows(int64_t first_slot, int64_t count, const float* x, const float* centre, bool dot);

  /// Computes the init of slots [first_slot, first_slot + count) from what was written through
  /// mutable_rows().
  void FinishRows(int64_t first_slot, int64_t count, bool dot);

  /// Makes the codes of groups [first_group, first_group + num_groups), whose rows and inits must
  /// be final. Different groups may be made from different threads; all of them before codes() is
  /// scanned. Costs about as much as scanning the rows for ten queries. Does nothing where Reset
  /// made no room, which it doesn't at SIMD levels that gain nothing from codes.
  void MakeCodes(int64_t first_group, int64_t num_groups);

  /// The codes, for BlockScan; null if there are none.
  RowCodes codes() const {
    if (!has_codes_) return {};
    return {codes_.data(), scales_.data(), code_init_.data(),
            has_floats_ ? nullptr : code_slack_.data()};
  }

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
  float* RowStart(int64_t slot) {
    return rows_.data() + slot / kGroupRows * dim_ * kGroupRows + slot % kGroupRows;
  }

  int64_t num_rows_ = 0;
  int64_t dim_ = 0;
  AlignedVector<float> rows_;
  AlignedVector<float> init_;
  bool has_floats_ = true;
  bool has_codes_ = false;
  AlignedVector<uint8_t> codes_;
  AlignedVector<float> scales_;
  AlignedVector<float> code_init_;
  AlignedVector<float> code_slack_;
};

}  // namespace kinjo::kernels
