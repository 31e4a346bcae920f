// What the process's control groups leave it: memory and processors, by version 1 and version 2 of
// the interface. Both defaults, of the memory limit and of the threads, ask here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kinjo::base {

/// The tightest limits of the process's groups and of those around them; nothing = no limit.
struct CgroupLimits {
  std::optional<int64_t> memory_bytes;
  std::optional<double> processors;  ///< quota over period: 1.5 is one and a half
};

/// Reads /proc/self/cgroup and the files below /sys/fs/cgroup; `root` goes before both. What is
/// missing or doesn't parse is no limit: a default must not fail.
CgroupLimits ReadCgroupLimits(const std::string& root = "");

/// Half of the memory that these limits leave of a machine with `machine_bytes`.
int64_t HalfOfMemory(const CgroupLimits& limits, int64_t machine_bytes);

/// Threads that these limits leave of `processors`, at least 1: a part of one counts as one.
int ThreadsWithin(const CgroupLimits& limits, int processors);

}  // namespace kinjo::base
