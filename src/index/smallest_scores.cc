#include "index/smallest_scores.h"

#include <algorithm>

namespace kinjo::index {

namespace {

// Columns that the scores are folded into: score i belongs to column i mod columns. With a few
// times as many columns as scores asked for, two of the smallest rarely share one.
constexpr int64_t kColumnsPerScore = 4;
constexpr int64_t kColumnStep = 16;  // so that folding runs in whole vectors

float NthSmallest(std::vector<float>* values, int64_t n) {
  const auto nth = values->begin() + (n - 1);
  std::nth_element(values->begin(), nth, values->end());
  return *nth;
}

void FoldMinima(const float* scores, int64_t count, int64_t columns, std::vector<float>* minima) {
  minima->assign(scores, scores + columns);
  float* least = minima->data();
  for (int64_t first = columns; first < count; first += columns) {
    const float* row = scores + first;
    const int64_t width = std::min(columns, count - first);
    for (int64_t c = 0; c < width; ++c) least[c] = row[c] < least[c] ? row[c] : least[c];
  }
}

}  // namespace

void PickSmallest(const float* scores, int64_t count, int64_t limit, float slack,
                  PickScratch* scratch, std::vector<uint32_t>* picked) {
  picked->clear();
  const int64_t columns = (kColumnsPerScore * limit + kColumnStep - 1) / kColumnStep * kColumnStep;
  if (2 * columns > count) {
    scratch->values.assign(scores, scores + count);
    const float cut = NthSmallest(&scratch->values, limit) + slack;
    for (int64_t i = 0; i < count; ++i) {
      if (scores[i] <= cut) picked->push_back(static_cast<uint32_t>(i));
    }
    return;
  }
  // The limit-th smallest of the columns' minima is at least the limit-th smallest score, and few
  // scores lie below it: only columns that reach below it are looked at again.
  FoldMinima(scores, count, columns, &scratch->minima);
  scratch->values = scratch->minima;
  const float loose_cut = NthSmallest(&scratch->values, limit) + slack;
  scratch->values.clear();
  for (int64_t c = 0; c < columns; ++c) {
    if (scratch->minima[c] > loose_cut) continue;
    for (int64_t i = c; i < count; i += columns) {
      if (scores[i] > loose_cut) continue;
      picked->push_back(static_cast<uint32_t>(i));
      scratch->values.push_back(scores[i]);
    }
  }
  const float cut = NthSmallest(&scratch->values, limit) + slack;
  std::erase_if(*picked, [scores, cut](uint32_t i) { return scores[i] > cut; });
}

}  // namespace kinjo::index
