// For tests: runs a body at every SIMD level of this machine.
#pragma once

#include <string>

#include "kernels/simd_level.h"

namespace kinjo::kernels {

/// Calls body(level) with each level forced, best first, and then restores the level in use. False
/// if a level that is listed can't be forced.
template <class Body>
bool AtEverySimdLevel(Body body) {
  const std::string before = CurrentSimdLevel();
  for (const std::string& level : AvailableSimdLevels()) {
    if (!ForceSimdLevel(level).ok()) return false;
    body(level);
  }
  return ForceSimdLevel(before).ok();
}

}  // namespace kinjo::kernels
