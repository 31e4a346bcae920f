// SHA-256 and the keyed hash over it, as requests to object stores are signed with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kinjo::io {

using Sha256Digest = std::array<uint8_t, 32>;

/// FIPS 180-4.
Sha256Digest Sha256(std::string_view bytes);

/// HMAC-SHA-256 (RFC 2104).
Sha256Digest HmacSha256(std::string_view key, std::string_view message);

/// Lower-case hexadecimal digits.
std::string HexOf(const Sha256Digest& digest);

/// The bytes of a digest, to be a key.
inline std::string_view BytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace kinjo::io
