// A distance and an id as one integer whose order is (distance, id): what sorts and heaps compare.
#pragma once

#include <cstdint>
#include <cstring>

namespace kinjo::index {

/// Bits of a float such that unsigned order is the order of the numbers; -0 counts as 0. Not for
/// NaN.
inline uint32_t OrderedBits(float value) {
  value += 0.0f;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

inline float FromOrderedBits(uint32_t ordered) {
  const uint32_t bits = (ordered & 0x80000000u) != 0 ? ordered & 0x7FFFFFFFu : ~ordered;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

inline uint64_t DistanceKey(float distance, uint32_t id) {
  return uint64_t{OrderedBits(distance)} << 32 | id;
}
inline float DistanceOf(uint64_t key) { return FromOrderedBits(static_cast<uint32_t>(key >> 32)); }
inline uint32_t IdOf(uint64_t key) { return static_cast<uint32_t>(key); }

}  // namespace kinjo::index
