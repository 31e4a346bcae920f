// A checksum that stays the same over versions and machines: for what is written down and compared
// later. Not against forgery.
#pragma once

#include <cstdint>
#include <string_view>

namespace kinjo::base {

/// FNV-1a of 64 bits.
constexpr uint64_t Checksum(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const char byte : bytes) {
    sum ^= static_cast<unsigned char>(byte);
    sum *= 0x100000001b3;
  }
  return sum;
}

}  // namespace kinjo::base
