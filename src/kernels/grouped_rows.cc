#include "kernels/grouped_rows.h"

#include <limits>

#include "kernels/kernel_table.h"

namespace kinjo::kernels {
namespace {

// The sum of products of two bytes over so many elements stays within 32 bits.
constexpr int64_t kMaxCodedDim = 32768;

}  // namespace

double MoveQuery(const double* query, const float* centre, int64_t dim, float* moved) {
  return Kernels().move_query_f(query, centre, dim, moved);
}
double MoveQuery(const double* query, const double* centre, int64_t dim, float* moved) {
  return Kernels().move_query_d(query, centre, dim, moved);
}

void GroupedRows::Reset(int64_t num_rows, int64_t dim, bool with_codes) {
  num_rows_ = num_rows;
  dim_ = dim;
  has_floats_ = true;
  const int64_t slots = num_groups() * kGroupRows;
  rows_.resize(static_cast<size_t>(slots * dim));
  init_.resize(static_cast<size_t>(slots));
  for (int64_t slot = num_rows; slot < slots; ++slot) {
    float* to = RowStart(slot);
    for (int64_t j = 0; j < dim; ++j) to[j * kGroupRows] = 0.0f;
    init_[slot] = std::numeric_limits<float>::infinity();
  }
  has_codes_ = with_codes && ScansCodes(dim);
  if (!has_codes_) return;
  codes_.resize(static_cast<size_t>(slots * CodeSteps(dim) * 4));
  scales_.resize(static_cast<size_t>(slots));
  code_init_.resize(static_cast<size_t>(slots));
}

bool ScansCodes(int64_t dim) {
  return dim <= kMaxCodedDim && Kernels().make_group_codes != nullptr;
}

void GroupedRows::ResetCoded(int64_t num_rows, int64_t dim) {
  num_rows_ = num_rows;
  dim_ = dim;
  has_floats_ = false;
  has_codes_ = true;
  const int64_t slots = num_groups() * kGroupRows;
  init_.resize(static_cast<size_t>(slots));
  codes_.resize(static_cast<size_t>(slots * CodeSteps(dim) * 4));
  scales_.resize(static_cast<size_t>(slots));
  code_init_.resize(static_cast<size_t>(slots));
  code_slack_.resize(static_cast<size_t>(slots));
  for (int64_t slot = num_rows; slot < slots; ++slot) {
    init_[slot] = code_init_[slot] = code_slack_[slot] = std::numeric_limits<float>::infinity();
    scales_[slot] = 0;
  }
}

void GroupedRows::SetCodedRows(int64_t first_slot, int64_t count, float scale, const double* norms2,
                               const double* rests2, bool dot) {
  float* inits = code_init_.data() + first_slot;
  CodedInits(norms2, rests2, count, dim_, dot, inits);
  for (int64_t i = 0; i < count; ++i) {
    const double start = dot ? 0 : norms2[i] / 2;
    init_[first_slot + i] = inits[i];
    scales_[first_slot + i] = scale;
    code_slack_[first_slot + i] = static_cast<float>(2.001 * (start - inits[i]));
  }
}

void GroupedRows::MakeCodes(int64_t first_group, int64_t num_groups) {
  const auto make_group_codes = Kernels().make_group_codes;
  if (!has_codes_ || !has_floats_ || make_group_codes == nullptr) return;
  for (int64_t group = first_group; group < first_group + num_groups; ++group) {
    const int64_t slot = group * kGroupRows;
    make_group_codes(rows_.data() + slot * dim_, init_.data() + slot, dim_,
                     codes_.data() + slot * CodeSteps(dim_) * 4, scales_.data() + slot,
                     code_init_.data() + slot);
  }
}

void GroupedRows::SetRow(int64_t slot, const float* x, const float* centre, bool dot) {
  float* to = RowStart(slot);
  double norm2 = 0;
  for (int64_t j = 0; j < dim_; ++j) {
    const float value = centre == nullptr ? x[j] : x[j] - centre[j];
    to[j * kGroupRows] = value;
    norm2 += static_cast<double>(value) * value;
  }
  init_[slot] = RowInit(norm2, dim_, dot);
}

void GroupedRows::SetRow(int64_t slot, const double* x, const double* centre, bool dot) {
  float* to = RowStart(slot);
  double norm2 = 0;
  for (int64_t j = 0; j < dim_; ++j) {
    const float value = static_cast<float>(centre == nullptr ? x[j] : x[j] - centre[j]);
    to[j * kGroupRows] = value;
    norm2 += static_cast<double>(value) * value;
  }
  init_[slot] = RowInit(norm2, dim_, dot);
}

void GroupedRows::SetRows(int64_t first_slot, int64_t count, const float* x, const float* centre,
                          bool dot) {
  const KernelTable& kernels = Kernels();
  const int64_t end = first_slot + count;
  int64_t slot = first_slot;
  while (slot < end) {
    const float* from = x + (slot - first_slot) * dim_;
    if (slot % kGroupRows != 0 || end - slot < kGroupRows) {
      SetRow(slot++, from, centre, dot);
      continue;
    }
    double norms2[kGroupRows];
    kernels.fill_group(from, centre, dim_, RowStart(slot), norms2);
    for (int64_t row = 0; row < kGroupRows; ++row) {
      init_[slot + row] = RowInit(norms2[row], dim_, dot);
    }
    slot += kGroupRows;
  }
}

void GroupedRows::FinishRows(int64_t first_slot, int64_t count, bool dot) {
  for (int64_t slot = first_slot; slot < first_slot + count; ++slot) {
    const float* from = RowStart(slot);
    double norm2 = 0;
    for (int64_t j = 0; j < dim_; ++j) {
      const double value = from[j * kGroupRows];
      norm2 += value * value;
    }
    init_[slot] = RowInit(norm2, dim_, dot);
  }
}

void GroupedRows::GetRow(int64_t slot, float* out) const {
  const float* from = rows_.data() + slot / kGroupRows * dim_ * kGroupRows + slot % kGroupRows;
  for (int64_t j = 0; j < dim_; ++j) out[j] = from[j * kGroupRows];
}

}  // namespace kinjo::kernels
