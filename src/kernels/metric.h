// The four metrics, by Lance's names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kinjo::kernels {

enum class Metric : uint8_t { kL2, kCosine, kDot, kHamming };

/// "l2", "cosine", "dot", "hamming".
std::string_view MetricName(Metric metric);

/// Reads a metric's name without regard to case; "euclidean" is l2. Nothing for any other text.
std::optional<Metric> ParseMetric(std::string_view name);

}  // namespace kinjo::kernels
