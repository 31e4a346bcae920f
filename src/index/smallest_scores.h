// The few smallest of many scores, without sorting or copying the many: how partitions are picked.
#pragma once

#include <cstdint>
#include <vector>

namespace kinjo::index {

/// Buffers of PickSmallest, kept from call to call.
struct PickScratch {
  std::vector<float> minima;
};

/// Writes to `picked`, rising, the positions of all scores <= t + slack, where t is the `limit`-th
/// smallest of scores[0, count), and mostly a few more: about an eighth of `limit`. No score may be
/// NaN; 1 <= limit <= count; slack >= 0.
void PickSmallest(const float* scores, int64_t count, int64_t limit, float slack,
                  PickScratch* scratch, std::vector<uint32_t>* picked);

/// A value that at least `limit` of the scores don't exceed, mostly near the `limit`-th smallest of
/// them; reads the scores about once. The same requirements.
float CutAbove(const float* scores, int64_t count, int64_t limit, PickScratch* scratch);

/// Looks for a value that exactly `limit` of the scores don't exceed, while all others are more
/// than `gap` above each of those. False if there is none. The same requirements.
bool FindGap(const float* scores, int64_t count, int64_t limit, float gap, float* cut);

}  // namespace kinjo::index
