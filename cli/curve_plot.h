// A recall curve as an SVG picture: recall to the right, queries a second upwards, both drawn so
// that each step towards all neighbours, or ten times the speed, takes as much room as the last.
#pragma once

#include <string>

#include "described.h"

namespace kinjo::cli {

/// The picture, self-contained; for light and dark backgrounds alike it brings its own.
std::string DrawCurve(const DescribedCurve& curve);

}  // namespace kinjo::cli
