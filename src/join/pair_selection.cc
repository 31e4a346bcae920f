#include "join/pair_selection.h"

#include <algorithm>

namespace kinjo::join {

int64_t PairSelection::Next(std::span<const uint32_t> neighbours, std::vector<bool>* keep) {
  const auto row = static_cast<uint32_t>(ends_.size());
  keep->assign(neighbours.size(), false);
  int64_t kept = 0;
  for (size_t i = 0; i < neighbours.size(); ++i) {
    const uint32_t other = neighbours[i];
    if (other > row) {
      later_.push_back(other);
      (*keep)[i] = true;
    } else {
      const uint64_t begin = other == 0 ? 0 : ends_[other - 1];
      (*keep)[i] = !std::binary_search(later_.begin() + static_cast<int64_t>(begin),
                                       later_.begin() + static_cast<int64_t>(ends_[other]), row);
    }
    kept += (*keep)[i] ? 1 : 0;
  }
  const uint64_t begin = ends_.empty() ? 0 : ends_.back();
  std::sort(later_.begin() + static_cast<int64_t>(begin), later_.end());
  ends_.push_back(later_.size());
  return kept;
}

int64_t PairSelection::SizeBytes(int64_t rows, int64_t k) {
  const int64_t bytes = rows * (8 + k * 4);
  return bytes + bytes / 16 + 4096;  // with the deques' own
}

}  // namespace kinjo::join
