// Chance that depends on a seed and a number alone: the same on every machine, in any order of
// asking, whatever the number of threads.
#pragma once

#include <cstdint>

namespace kinjo::index {

/// 64 random bits for the `number`-th question (the finaliser of SplitMix64).
constexpr uint64_t ChanceBits(uint64_t seed, uint64_t number) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (number + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A number in [0, 1).
constexpr double ChanceUnit(uint64_t seed, uint64_t number) {
  return static_cast<double>(ChanceBits(seed, number) >> 11) * 0x1p-53;
}

/// A whole number in [0, below); below >= 1.
constexpr uint64_t ChanceBelow(uint64_t seed, uint64_t number, uint64_t below) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(ChanceBits(seed, number)) * below >>
                               64);
}

}  // namespace kinjo::index
