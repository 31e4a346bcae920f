#include "kernels/rotate_rows.h"

#include <bit>
#include <cmath>

#include "kernels/kernel_table.h"

namespace kinjo::kernels {

void RotateRows(const uint8_t* signs, int64_t dim, double* x) {
  const auto span = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(dim)));
  Kernels().rotate_rows(signs, dim, span, 1 / std::sqrt(static_cast<double>(span)), x);
}

}  // namespace kinjo::kernels
