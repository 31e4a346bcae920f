#include "kernels/metric.h"

#include <algorithm>

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

namespace {
// ASCII only: the locale of the process has no say in a metric's name.
char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
}  // namespace

std::optional<Metric> ParseMetric(std::string_view name) {
  const auto is = [&](std::string_view other) {
    return std::ranges::equal(name, other, {}, LowerCase);
  };
  if (is("l2") || is("euclidean")) return Metric::kL2;
  if (is("cosine")) return Metric::kCosine;
  if (is("dot")) return Metric::kDot;
  if (is("hamming")) return Metric::kHamming;
  return std::nullopt;
}

}  // namespace kinjo::kernels
