#include "io/coalesce.h"

#include <algorithm>
#include <numeric>

namespace kinjo::io {

std::vector<CoalescedRequest> Coalesce(std::span<const ByteRange> ranges, uint64_t gap_bytes) {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto earlier = [&](size_t a, size_t b) {
    return ranges[a].offset != ranges[b].offset ? ranges[a].offset < ranges[b].offset : a < b;
  };
  if (!std::is_sorted(order.begin(), order.end(), earlier)) {
    std::sort(order.begin(), order.end(), earlier);
  }
  std::vector<CoalescedRequest> requests;
  uint64_t end = 0;
  for (const size_t member : order) {
    const ByteRange& range = ranges[member];
    if (range.length == 0) continue;
    const bool joins =
        !requests.empty() && (range.offset <= end || range.offset - end <= gap_bytes);
    if (!joins) {
      requests.push_back({range, {}});
      end = range.offset + range.length;
    }
    CoalescedRequest& request = requests.back();
    end = std::max(end, range.offset + range.length);
    request.range.length = end - request.range.offset;
    request.members.push_back(member);
  }
  return requests;
}

}  // namespace kinjo::io
