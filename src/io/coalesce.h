// Which requests serve many ranges of one file: neighbours within a gap are read as one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/random_reader.h"

namespace kinjo::io {

/// One request and the ranges (by their number in the input) that lie inside it.
struct CoalescedRequest {
  ByteRange range;
  std::vector<size_t> members;
};

/// Groups `ranges` (any order, may overlap or be empty) into requests of rising, disjoint ranges.
/// Two ranges share a request when at most `gap_bytes` lie between them. Empty ranges belong to no
/// request. No range may wrap around 2^64.
std::vector<CoalescedRequest> Coalesce(std::span<const ByteRange> ranges, uint64_t gap_bytes);

}  // namespace kinjo::io
