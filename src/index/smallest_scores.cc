#include "index/smallest_scores.h"

#include <algorithm>
#include <limits>

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

// Smallest and largest value; in lanes, so that the compiler needs no order of its own.
void FindRange(const float* values, int64_t count, float* least, float* most) {
  constexpr int64_t kLanes = 16;
  float low[kLanes];
  float high[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) low[lane] = high[lane] = values[0];
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const float value = values[i + lane];
      low[lane] = value < low[lane] ? value : low[lane];
      high[lane] = high[lane] < value ? value : high[lane];
    }
  }
  *least = *std::min_element(low, low + kLanes);
  *most = *std::max_element(high, high + kLanes);
  for (; i < count; ++i) {
    *least = std::min(*least, values[i]);
    *most = std::max(*most, values[i]);
  }
}

// A cut that at least `limit` values don't exceed, and no more than `enough` unless they are equal.
// Bisection counts in whole vectors; selecting exactly would branch on every value.
float FindCut(const float* values, int64_t count, int64_t limit, int64_t enough) {
  float low = 0;
  float high = 0;
  FindRange(values, count, &low, &high);
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

float CutAbove(const float* scores, int64_t count, int64_t limit, PickScratch* scratch) {
  const int64_t enough = limit + limit / 8 + 1;
  const int64_t columns = (kColumnsPerScore * limit + kColumnStep - 1) / kColumnStep * kColumnStep;
  if (2 * columns > count) return FindCut(scores, count, limit, enough);
  // What `limit` columns reach is at least the limit-th smallest score, and few scores lie below.
  FoldMinima(scores, count, columns, &scratch->minima);
  return FindCut(scratch->minima.data(), columns, limit, enough);
}

bool FindGap(const float* scores, int64_t count, int64_t limit, float gap, float* cut) {
  *cut = FindCut(scores, count, limit, limit);
  float most = -std::numeric_limits<float>::infinity();
  float next = std::numeric_limits<float>::infinity();
  int64_t below = 0;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_below = scores[i] <= *cut;
    below += is_below ? 1 : 0;
    most = is_below && scores[i] > most ? scores[i] : most;
    next = !is_below && scores[i] < next ? scores[i] : next;
  }
  return below == limit && next - most > gap;
}

void PickSmallest(const float* scores, int64_t count, int64_t limit, float slack,
                  PickScratch* scratch, std::vector<uint32_t>* picked) {
  const float cut = CutAbove(scores, count, limit, scratch) + slack;
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
