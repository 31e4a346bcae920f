#include "index/smallest_scores.h"

#include <algorithm>

namespace kinjo::index {

namespace {

// Columns that the scores are folded into: score i belongs to column i mod columns. With a few
// times as many columns as scores asked for, two of the smallest rarely share one.
constexpr int64_t kColumnsPerScore = 4;
constexpr int64_t kColumnStep = 16;  // so that folding runs in whole vectors

void FoldMinima(const float* scores, int64_t count, int64_t columns, std::vector<float>* minima) {
  minima->assign(scores, scores + columns);
  float* least = minima->data();
  for (int64_t first = columns; first < count; first += columns) {
    const float* row = scores + first;
    const int64_t width = std::min(columns, count - first);
    for (int64_t c = 0; c < width; ++c) least[c] = row[c] < least[c] ? row[c] : least[c];
  }
}

int64_t CountUpTo(const float* values, int64_t count, float cut) {
  int32_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += values[i] <= cut ? 1 : 0;
  return found;
}

// A cut that at least `limit` values don't exceed, and about an eighth of it more. Bisection counts
// in whole vectors; selecting exactly would branch on every value.
float FindCut(const float* values, int64_t count, int64_t limit) {
  const auto [least, most] = std::minmax_element(values, values + count);
  float low = *least;
  float high = *most;
  const int64_t enough = limit + limit / 8 + 1;
  if (CountUpTo(values, count, low) >= limit) return low;
  for (;;) {
    const float middle = low / 2 + high / 2;
    if (!(low < middle && middle < high)) return high;
    const int64_t found = CountUpTo(values, count, middle);
    if (found < limit) {
      low = middle;
    } else {
      high = middle;
      if (found <= enough) return high;
    }
  }
}

}  // namespace

void PickSmallest(const float* scores, int64_t count, int64_t limit, float slack,
                  PickScratch* scratch, std::vector<uint32_t>* picked) {
  const int64_t columns = (kColumnsPerScore * limit + kColumnStep - 1) / kColumnStep * kColumnStep;
  float cut = 0;
  if (2 * columns > count) {
    cut = FindCut(scores, count, limit) + slack;
  } else {
    // What `limit` columns reach is at least the limit-th smallest score, and few scores lie below.
    FoldMinima(scores, count, columns, &scratch->minima);
    cut = FindCut(scratch->minima.data(), columns, limit) + slack;
  }
  picked->resize(static_cast<size_t>(count));
  uint32_t* out = picked->data();
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    out[kept] = static_cast<uint32_t>(i);
    kept += scores[i] <= cut ? 1 : 0;
  }
  picked->resize(static_cast<size_t>(kept));
}

}  // namespace kinjo::index
