#include "kernels/node_distance.h"

#include "kernels/kernel_table.h"

namespace kinjo::kernels {

void NodeL2(const NodeRows& rows, const uint32_t* nodes, int64_t count, float* out) {
  Kernels().node_l2[static_cast<int>(rows.element)](rows.query, rows.rows, rows.dim, nodes, count,
                                                    out);
}

void NodeDot(const NodeRows& rows, const uint32_t* nodes, int64_t count, float* out) {
  Kernels().node_dot[static_cast<int>(rows.element)](rows.query, rows.rows, rows.dim, nodes, count,
                                                     out);
}

void NodeCosine(const NodeRows& rows, const uint32_t* nodes, int64_t count, float* out) {
  Kernels().node_cosine[static_cast<int>(rows.element)](rows.query, rows.rows, rows.dim, nodes,
                                                        count, out);
}

}  // namespace kinjo::kernels
