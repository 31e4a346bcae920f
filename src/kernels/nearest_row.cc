#include "kernels/nearest_row.h"

#include <cstddef>

#include "kernels/aligned_vector.h"
#include "kernels/kernel_table.h"

namespace kinjo::kernels {

void FindNearestRows(const NearestScan& scan, NearestRow* out) {
  AlignedVector<float> scratch(static_cast<size_t>(kNearestPanelQueries * scan.dim));
  Kernels().find_nearest(scan, scratch.data(), out);
}

}  // namespace kinjo::kernels
