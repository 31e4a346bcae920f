// A recall curve as people read it.
#pragma once

#include <string>

#include "described.h"

namespace kinjo::cli {

/// The recall that is marked unless another one is asked for.
inline constexpr double kDefaultRecallTarget = 0.95;

/// What was measured, and a row for each setting.
std::string CurveText(const DescribedCurve& curve);

}  // namespace kinjo::cli
