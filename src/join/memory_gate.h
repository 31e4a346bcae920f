// The gate of the way that keeps an index in memory: its footprint as a + b |R|, a line over the
// right rows, against a share of the memory there is. Where it is closed, partitions are streamed
// through a cache that holds what fits.
#pragma once

#include <cstdint>

namespace kinjo::join {

/// What a resident index takes: `base_bytes` whatever its size, and more for each row.
struct ResidentModel {
  double base_bytes = 0;     ///< a
  double bytes_per_row = 0;  ///< b
};

/// Bytes that `rows` take.
double ResidentBytes(const ResidentModel& model, int64_t rows);

/// The most rows that fit `safety` (in (0, 1]) of `memory_bytes`; 0 when nothing does.
int64_t ResidentRowsMax(const ResidentModel& model, int64_t memory_bytes, double safety);

/// Whether an index of `rows` may be kept.
bool MayStayResident(const ResidentModel& model, int64_t rows, int64_t memory_bytes, double safety);

/// The share of the memory limit that a plan opens the gate for; what allocators keep is a share of
/// its own there.
inline constexpr double kResidentSafety = 0.9;

}  // namespace kinjo::join
