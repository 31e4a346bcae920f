#include "exec/multivector_estimate.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

namespace kinjo::exec {

namespace {

/// Vector `vector` of the left list met a right vector of the row at `address`.
struct Meeting {
  uint64_t address;
  uint32_t vector;
  float distance;

  friend bool operator<(const Meeting& a, const Meeting& b) {
    return std::tie(a.address, a.vector, a.distance) < std::tie(b.address, b.vector, b.distance);
  }
};

}  // namespace

std::vector<kernels::Neighbor> EstimateRows(std::span<const std::vector<kernels::Neighbor>> found) {
  std::vector<Meeting> meetings;
  std::vector<double> unmet;  // of each vector
  for (uint32_t vector = 0; vector < found.size(); ++vector) {
    for (const kernels::Neighbor& entry : found[vector]) {
      meetings.push_back({entry.address, vector, entry.distance});
    }
    unmet.push_back(found[vector].empty() ? 1.0 : found[vector].back().distance);
  }
  std::sort(meetings.begin(), meetings.end());
  std::vector<kernels::Neighbor> rows;
  for (size_t i = 0; i < meetings.size();) {
    const uint64_t address = meetings[i].address;
    double sum = 0;
    for (uint32_t vector = 0; vector < found.size(); ++vector) {
      const bool met =
          i < meetings.size() && meetings[i].address == address && meetings[i].vector == vector;
      sum += met ? meetings[i].distance : unmet[vector];
      while (i < meetings.size() && meetings[i].address == address &&
             meetings[i].vector == vector) {
        ++i;
      }
    }
    rows.push_back({static_cast<float>(sum), address});
  }
  return rows;
}

}  // namespace kinjo::exec
