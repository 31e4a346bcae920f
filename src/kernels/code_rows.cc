#include "kernels/code_rows.h"

#include "kernels/kernel_table.h"

namespace kinjo::kernels {
namespace {

void SetInits(const double* norms2, int64_t group, int64_t count, bool dot, GroupedRows* out) {
  float* init = out->mutable_init() + group * kGroupRows;
  for (int64_t row = 0; row < count; ++row) init[row] = RowInit(norms2[row], out->dim(), dot);
}

}  // namespace

void StoreByteRows(const ByteRows& from, int64_t group, int64_t count, bool dot, GroupedRows* out) {
  double norms2[kGroupRows];
  float* rows = out->mutable_rows() + group * kGroupRows * out->dim();
  Kernels().group_bytes(from, out->dim(), rows, norms2);
  SetInits(norms2, group, count, dot, out);
}

void StoreScaledRows(const ScaledRows& from, int64_t group, int64_t count, bool dot,
                     GroupedRows* out) {
  double norms2[kGroupRows];
  float* rows = out->mutable_rows() + group * kGroupRows * out->dim();
  Kernels().group_scaled(from, out->dim(), rows, norms2);
  SetInits(norms2, group, count, dot, out);
}

void DoubleSignedCodes(const uint8_t* signs, const uint8_t* values, int ex_bits, int64_t count,
                       float* out) {
  Kernels().double_codes(signs, values, ex_bits, count, out);
}

}  // namespace kinjo::kernels
