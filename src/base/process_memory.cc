#include "base/process_memory.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

namespace kinjo::base {

namespace {

std::atomic<int> watching{0};

// "VmHWM:      1234 kB" in kilobytes of 1024 bytes.
std::optional<int64_t> KilobytesIn(const std::string& line, const std::string& name) {
  if (!line.starts_with(name)) return std::nullopt;
  return std::strtoll(line.c_str() + name.size(), nullptr, 10);
}

// The peak becomes what is resident now. False where it isn't allowed.
bool ResetPeak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

}  // namespace

std::optional<ProcessMemory> ReadProcessMemory() {
  std::ifstream file("/proc/self/status");
  std::string line;
  std::optional<int64_t> resident;
  std::optional<int64_t> peak;
  while (std::getline(file, line)) {
    if (!resident) resident = KilobytesIn(line, "VmRSS:");
    if (!peak) peak = KilobytesIn(line, "VmHWM:");
  }
  if (!resident || !peak) return std::nullopt;
  return ProcessMemory{*resident * 1024, *peak * 1024};
}

MemoryGrowth::MemoryGrowth() {
  // A reset would take the peak from who watches already.
  const bool alone = watching.fetch_add(1) == 0;
  const bool reset = alone && ResetPeak();
  const std::optional<ProcessMemory> memory = ReadProcessMemory();
  if (memory) base_bytes_ = reset ? memory->resident_bytes : memory->peak_bytes;
}

MemoryGrowth::~MemoryGrowth() { watching.fetch_sub(1); }

std::optional<int64_t> MemoryGrowth::bytes() const {
  const std::optional<ProcessMemory> memory = ReadProcessMemory();
  if (!memory || !base_bytes_) return std::nullopt;
  return std::max<int64_t>(0, memory->peak_bytes - *base_bytes_);
}

}  // namespace kinjo::base
