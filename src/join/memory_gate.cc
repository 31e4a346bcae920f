#include "join/memory_gate.h"

#include <cmath>
#include <limits>

namespace kinjo::join {

double ResidentBytes(const ResidentModel& model, int64_t rows) {
  return model.base_bytes + model.bytes_per_row * static_cast<double>(rows);
}

int64_t ResidentRowsMax(const ResidentModel& model, int64_t memory_bytes, double safety) {
  const double room = safety * static_cast<double>(memory_bytes) - model.base_bytes;
  if (room < 0) return 0;
  constexpr auto kMost = static_cast<double>(std::numeric_limits<int64_t>::max() >> 1);
  if (room >= kMost * model.bytes_per_row) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::floor(room / model.bytes_per_row));
}

bool MayStayResident(const ResidentModel& model, int64_t rows, int64_t memory_bytes,
                     double safety) {
  return ResidentBytes(model, rows) <= safety * static_cast<double>(memory_bytes);
}

}  // namespace kinjo::join
