// How many partitions the first round visits when the user didn't say: Lance 14's rule, from the
// spread of the centroid distances, with its measured constants (docs/format/index-file.md); and
// how `search_effort` moves that count.
#include <algorithm>
#include <cmath>
#include <limits>

#include "index/ivf_segment.h"

namespace kinjo::index {

namespace {

/// One column of the table: the answer for k up to `max_k`.
struct ProbeRule {
  int64_t max_k;
  float margin;
  int64_t floor;
  int64_t cap;
};

constexpr ProbeRule kL2Rules[] = {
    {1, .2175f, 5, 19},    {10, .265f, 6, 24},     {100, .33f, 11, 38},    {200, .375f, 15, 56},
    {500, .3725f, 22, 81}, {1000, .4175f, 29, 93}, {10000, .57f, 98, 238}, {100000, .75f, 463, 704},
};
constexpr ProbeRule kCosineRules[] = {
    {1, .235f, 3, 50},         {10, .2875f, 8, 77},      {100, .38f, 7, 106},
    {200, .415f, 18, 156},     {500, .45f, 28, 192},     {1000, .47f, 34, 248},
    {10000, .6475f, 104, 447}, {100000, .58f, 738, 958},
};
constexpr ProbeRule kDotRules[] = {
    {1, .14f, 56, 112},         {10, .055f, 144, 432},      {100, .0625f, 200, 768},
    {200, .0675f, 211, 833},    {500, .07f, 244, 971},      {1000, .0725f, 279, 1092},
    {10000, .0825f, 517, 1824}, {100000, .21f, 1009, 2528},
};

std::span<const ProbeRule> RulesOf(kernels::Metric metric) {
  switch (metric) {
    case kernels::Metric::kL2:
      return kL2Rules;
    case kernels::Metric::kCosine:
      return kCosineRules;
    case kernels::Metric::kDot:
      return kDotRules;
    case kernels::Metric::kHamming:
      break;
  }
  return {};
}

/// Null for hamming and for k beyond the table.
const ProbeRule* FindRule(kernels::Metric metric, int64_t k) {
  for (const ProbeRule& rule : RulesOf(metric)) {
    if (k <= rule.max_k) return &rule;
  }
  return nullptr;
}

constexpr double kRounding = 1e-12;

// Where no rule fits: partitions within a multiple of the nearest one's distance.
int64_t CountWithinMultiple(int64_t k, std::span<const float> ranked) {
  const float multiple = k <= 1 ? 0.6f : k <= 10 ? 7.0f : 81.0f;
  const float limit = ranked[0] * multiple;
  const auto count = std::count_if(ranked.begin(), ranked.end(),
                                   [limit](float distance) { return distance <= limit; });
  return std::max<int64_t>(count, 1);
}

}  // namespace

int64_t AdaptiveProbeCount(kernels::Metric metric, int64_t k, std::span<const float> ranked) {
  const auto num_ranked = static_cast<int64_t>(ranked.size());
  if (num_ranked == 0) return 0;
  const ProbeRule* rule = FindRule(metric, k);
  if (rule == nullptr) return CountWithinMultiple(k, ranked);
  const float nearest = ranked[0];
  const float scale = metric == kernels::Metric::kDot ? std::abs(1.0f - nearest) : nearest;
  const float margin = rule->margin * scale;
  const auto end = std::find_if(ranked.begin(), ranked.end(), [nearest, margin](float distance) {
    return !(distance - nearest <= margin);
  });
  const int64_t count = std::clamp<int64_t>(end - ranked.begin(), rule->floor, rule->cap);
  return std::min(count, num_ranked);
}

int64_t AdaptiveProbeCap(kernels::Metric metric, int64_t k) {
  const ProbeRule* rule = FindRule(metric, k);
  return rule == nullptr ? std::numeric_limits<int64_t>::max() : rule->cap;
}

int64_t EffortProbeCount(double effort, int64_t adaptive, int64_t minimum, int64_t maximum) {
  if (maximum <= 0) return 0;
  const int64_t low = std::clamp<int64_t>(minimum, 1, maximum);
  const int64_t middle = std::clamp(adaptive, low, maximum);
  if (effort == 0.5) return middle;
  const int64_t from = effort < 0.5 ? low : middle;
  const int64_t to = effort < 0.5 ? middle : maximum;
  const double share = effort < 0.5 ? 2 * effort : 2 * effort - 1;
  const auto first = static_cast<double>(from);
  const double count = first * std::pow(static_cast<double>(to) / first, share);
  // Powers that are whole but for their rounding mustn't be rounded up, on any machine.
  return std::clamp(static_cast<int64_t>(std::ceil(count - kRounding * count)), from, to);
}

}  // namespace kinjo::index
