// Bytes of a file as the decoders see them: spans, unaligned loads, arithmetic that can't overflow,
// and the place that an error names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "arrow/buffer.h"
#include "base/error.h"

namespace kinjo::format::file {

using Bytes = std::span<const uint8_t>;

inline Bytes ToBytes(const arrow::Buffer& buffer) {
  return {buffer.data(), static_cast<size_t>(buffer.size())};
}

/// Reads a little-endian T at any alignment.
template <typename T>
T Load(const uint8_t* position) {
  T value;
  std::memcpy(&value, position, sizeof(T));
  return value;
}

/// Reads a little-endian unsigned number of `width` bytes (1, 2, 4 or 8).
inline uint64_t LoadUnsigned(const uint8_t* position, uint32_t width) {
  switch (width) {
    case 1:
      return *position;
    case 2:
      return Load<uint16_t>(position);
    case 4:
      return Load<uint32_t>(position);
    default:
      return Load<uint64_t>(position);
  }
}

/// a * b; false when it doesn't fit.
inline bool CheckedMultiply(uint64_t a, uint64_t b, uint64_t* product) {
  return !__builtin_mul_overflow(a, b, product);
}

/// a + b; false when it doesn't fit.
inline bool CheckedAdd(uint64_t a, uint64_t b, uint64_t* sum) {
  return !__builtin_add_overflow(a, b, sum);
}

/// Bytes that hold `bits` bits.
inline uint64_t BytesForBits(uint64_t bits) { return bits / 8 + (bits % 8 != 0); }

inline uint64_t RoundUpTo8(uint64_t size) { return (size + 7) & ~uint64_t{7}; }

inline bool BitAt(const uint8_t* bits, uint64_t index) {
  return ((bits[index / 8] >> (index % 8)) & 1) != 0;
}

/// Names the bytes being decoded and makes the errors about them. Borrows its path.
struct Where {
  static constexpr uint32_t kNoColumn = UINT32_MAX;

  const std::string* path = nullptr;
  uint64_t offset = 0;  ///< of the bytes at hand, from the start of the file
  uint32_t column = kNoColumn;
  uint64_t page = 0;

  Where At(uint64_t new_offset) const {
    Where where = *this;
    where.offset = new_offset;
    return where;
  }

  template <typename... Parts>
  arrow::Status Corrupt(const Parts&... parts) const {
    return base::Corrupt(*path, offset, Name(), parts...);
  }

  /// More than this build takes, or than the machine has.
  template <typename... Parts>
  arrow::Status Capacity(const Parts&... parts) const {
    return base::MakeError(base::ErrorCode::kCapacity, base::Concat(Name(), parts...), *path);
  }

  /// Well-formed, but of a kind that this build doesn't read.
  template <typename... Parts>
  arrow::Status NotSupported(const Parts&... parts) const {
    return base::MakeError(base::ErrorCode::kNotSupported, base::Concat(Name(), parts...), *path);
  }

 private:
  std::string Name() const {
    if (column == kNoColumn) return "data file: ";
    return base::Concat("data file, column ", column, ", page ", page, ": ");
  }
};

}  // namespace kinjo::format::file
