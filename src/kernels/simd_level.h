// Which instruction set the kernels run on: visible, listed, and forced by KINJO_SIMD.
#pragma once

#include <string>
#include <vector>

#include "arrow/status.h"

namespace kinjo::kernels {

/// The levels that this build has and this machine can run, best first, by Highway's names in lower
/// case
/// ("avx3_dl", "avx3", "avx2", "sse4", "ssse3", "scalar" / "emu128").
std::vector<std::string> AvailableSimdLevels();

/// The level in use: the best, or what KINJO_SIMD or ForceSimdLevel named.
std::string CurrentSimdLevel();

/// Chooses a level for all calls from now on ("" = the best again). An unknown or unavailable name
/// is an error that lists the levels. Not thread-safe: for tests and start-up.
arrow::Status ForceSimdLevel(const std::string& name);

/// OK, or the error that ForceSimdLevel would give for the value of KINJO_SIMD (none when empty).
/// Faces ask before they compute; kernels that run without having asked ignore a name that isn't
/// available.
arrow::Status CheckSimdEnvironment();

}  // namespace kinjo::kernels
