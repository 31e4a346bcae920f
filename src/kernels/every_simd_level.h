// For tests: runs a body at every SIMD level of this machine, and names the level on failure.
#pragma once

#include <string>

#include "gtest/gtest.h"
#include "kernels/simd_level.h"

namespace kinjo::kernels {

template <class Body>
void AtEverySimdLevel(Body body) {
  const std::string before = CurrentSimdLevel();
  for (const std::string& level : AvailableSimdLevels()) {
    SCOPED_TRACE("SIMD level " + level);
    ASSERT_TRUE(ForceSimdLevel(level).ok());
    body();
  }
  ASSERT_TRUE(ForceSimdLevel(before).ok());
}

}  // namespace kinjo::kernels
