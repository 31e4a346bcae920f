#include "join/row_clusters.h"

#include <algorithm>

namespace kinjo::join {

void RowClusters::Grow(int64_t rows) {
  for (int64_t row = num_rows(); row < rows; ++row) {
    parents_.push_back(static_cast<uint32_t>(row));
    ++num_clusters_;
  }
}

uint32_t RowClusters::Find(uint32_t row) {
  // Halving the path keeps it short for the next time.
  while (parents_[row] != row) {
    parents_[row] = parents_[parents_[row]];
    row = parents_[row];
  }
  return row;
}

void RowClusters::Unite(uint32_t a, uint32_t b) {
  a = Find(a);
  b = Find(b);
  if (a == b) return;
  parents_[std::max(a, b)] = std::min(a, b);
  --num_clusters_;
}

}  // namespace kinjo::join
