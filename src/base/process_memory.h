// What the process really takes of the machine's memory, as the system counts it: beside what the
// budget reserved, the only figure that also holds what nobody planned.
#pragma once

#include <cstdint>
#include <optional>

namespace kinjo::base {

/// The memory of this process as the system counts it.
struct ProcessMemory {
  int64_t resident_bytes = 0;
  int64_t peak_bytes = 0;  ///< the most that was resident, since the start or the last reset
};

/// Nothing where the system has no /proc.
std::optional<ProcessMemory> ReadProcessMemory();

/// How far the process's resident memory rises above what it is when this is made. All threads of
/// the process count, and all that lives in it. The system's own peak is reset where that is
/// allowed; else, and while another growth is being watched, only what goes beyond the earlier peak
/// is seen.
class MemoryGrowth {
 public:
  MemoryGrowth();
  ~MemoryGrowth();
  MemoryGrowth(const MemoryGrowth&) = delete;
  MemoryGrowth& operator=(const MemoryGrowth&) = delete;

  /// So far, at most. Nothing where the system doesn't tell.
  std::optional<int64_t> bytes() const;

 private:
  std::optional<int64_t> base_bytes_;
};

}  // namespace kinjo::base
