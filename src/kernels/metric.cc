#include "kernels/metric.h"

#include <strings.h>

namespace kinjo::kernels {

std::string_view MetricName(Metric metric) {
  switch (metric) {
    case Metric::kL2:
      return "l2";
    case Metric::kCosine:
      return "cosine";
    case Metric::kDot:
      return "dot";
    case Metric::kHamming:
      break;
  }
  return "hamming";
}

std::optional<Metric> ParseMetric(std::string_view name) {
  const auto is = [&](std::string_view other) {
    return name.size() == other.size() && strncasecmp(name.data(), other.data(), name.size()) == 0;
  };
  if (is("l2") || is("euclidean")) return Metric::kL2;
  if (is("cosine")) return Metric::kCosine;
  if (is("dot")) return Metric::kDot;
  if (is("hamming")) return Metric::kHamming;
  return std::nullopt;
}

}  // namespace kinjo::kernels
