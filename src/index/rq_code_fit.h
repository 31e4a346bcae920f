// The code of a RaBitQ row: how far each element of its rotated residual reaches, in whole steps.
// One number decides it, the size of a step; the best one makes the code's direction the nearest to
// the residual's. Any gives a valid code.
#pragma once

#include <cstdint>

namespace kinjo::index {

/// Writes codes[dim], each less than 2^ex_bits, ex_bits 1 to 8, for magnitudes[dim] >= 0 whose
/// squares sum to 1 (or all 0: the codes are 0). The same on every machine.
void FitRqCode(const float* magnitudes, int64_t dim, int ex_bits, uint8_t* codes);

/// Packs codes[dim] of ex_bits into rows of RqExCodeBytes bytes (docs/format/index-file.md).
void PackRqExCodes(const uint8_t* codes, int64_t dim, int ex_bits, uint8_t* out);

/// Packs the sign bytes of a partition, num_rows rows of row_bytes `stride` apart, into permuted
/// blocks of 32 rows with the rest column after column.
void PackRqSigns(const uint8_t* signs, int64_t stride, int64_t num_rows, int64_t row_bytes,
                 uint8_t* out);

}  // namespace kinjo::index
