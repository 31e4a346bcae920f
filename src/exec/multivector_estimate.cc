#include "exec/multivector_estimate.h"

#include <algorithm>

namespace kinjo::exec {

void RowEstimates::Add(std::span<const kernels::Neighbor> found) {
  nearest_.assign(found.begin(), found.end());
  std::sort(nearest_.begin(), nearest_.end(), [](const auto& a, const auto& b) {
    return a.address != b.address ? a.address < b.address : a.distance < b.distance;
  });
  nearest_.erase(std::unique(nearest_.begin(), nearest_.end(),
                             [](const auto& a, const auto& b) { return a.address == b.address; }),
                 nearest_.end());
  const double unmet = found.empty() ? 1.0 : found.back().distance;
  merged_.clear();
  auto row = rows_.begin();
  const auto add_unmet_before = [&](auto is_before) {
    for (; row != rows_.end() && is_before(*row); ++row) {
      merged_.push_back({row->address, row->sum + unmet});
    }
  };
  for (const kernels::Neighbor& met : nearest_) {
    add_unmet_before([&](const Row& other) { return other.address < met.address; });
    const bool is_known = row != rows_.end() && row->address == met.address;
    merged_.push_back({met.address, (is_known ? row->sum : unmet_) + met.distance});
    if (is_known) ++row;
  }
  add_unmet_before([](const Row&) { return true; });
  rows_.swap(merged_);
  unmet_ += unmet;
}

std::vector<kernels::Neighbor> RowEstimates::Rows() const {
  std::vector<kernels::Neighbor> rows;
  rows.reserve(rows_.size());
  for (const Row& row : rows_) rows.push_back({static_cast<float>(row.sum), row.address});
  return rows;
}

}  // namespace kinjo::exec
