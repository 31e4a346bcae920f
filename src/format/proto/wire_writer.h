// The protobuf wire format, written: the counterpart of wire.h. Fields are appended in the order of
// the calls; what equals its proto3 default is left out unless the caller asks for presence.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace kinjo::format::proto {

/// Collects the fields of one message. Every call appends one field (nothing for a default) and
/// gives the writer back. Negative numbers take ten bytes, as proto3 wants them.
class WireWriter {
 public:
  /// A varint field, left out when it is zero.
  WireWriter& Number(uint32_t field, uint64_t value) {
    return value == 0 ? *this : PresentNumber(field, value);
  }
  /// An int32 or int64 field, left out when it is zero.
  WireWriter& SignedNumber(uint32_t field, int64_t value) {
    return Number(field, static_cast<uint64_t>(value));
  }
  /// A varint field of a message that keeps presence: written whatever its value.
  WireWriter& PresentNumber(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
    return *this;
  }
  WireWriter& Bool(uint32_t field, bool value) { return Number(field, value ? 1 : 0); }
  /// A string, bytes or a message that is encoded already; left out when it is empty.
  WireWriter& Bytes(uint32_t field, std::string_view bytes) {
    return bytes.empty() ? *this : PresentBytes(field, bytes);
  }
  /// The same, written whatever its length: messages, and entries of repeated fields.
  WireWriter& PresentBytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    text_.append(bytes);
    return *this;
  }
  WireWriter& Message(uint32_t field, const WireWriter& message) {
    return PresentBytes(field, message.text_);
  }
  WireWriter& Float(uint32_t field, float value) {
    if (std::bit_cast<uint32_t>(value) == 0) return *this;
    Varint(uint64_t{field} << 3 | 5);
    return Fixed(std::bit_cast<uint32_t>(value));
  }
  WireWriter& Double(uint32_t field, double value) {
    if (std::bit_cast<uint64_t>(value) == 0) return *this;
    Varint(uint64_t{field} << 3 | 1);
    return Fixed(std::bit_cast<uint64_t>(value));
  }
  /// A repeated varint field in the packed form; signed values are widened first.
  template <typename T>
  WireWriter& PackedNumbers(uint32_t field, std::span<const T> values) {
    if (values.empty()) return *this;
    WireWriter packed;
    for (const T value : values) packed.Varint(static_cast<uint64_t>(int64_t{value}));
    return PresentBytes(field, packed.text_);
  }
  WireWriter& PackedNumbers(uint32_t field, std::span<const uint64_t> values) {
    if (values.empty()) return *this;
    WireWriter packed;
    for (const uint64_t value : values) packed.Varint(value);
    return PresentBytes(field, packed.text_);
  }
  WireWriter& PackedFloats(uint32_t field, std::span<const float> values) {
    const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    return Bytes(field, bytes);
  }
  /// A map field with text or bytes on both sides, in the map's order.
  WireWriter& Map(uint32_t field, const std::map<std::string, std::string>& entries) {
    for (const auto& [key, value] : entries) {
      Message(field, WireWriter().Bytes(1, key).Bytes(2, value));
    }
    return *this;
  }
  /// Fields that are encoded already, e.g. ones that a reader kept without knowing them.
  WireWriter& Fields(std::string_view encoded) {
    text_.append(encoded);
    return *this;
  }

  const std::string& text() const& { return text_; }
  std::string text() && { return std::move(text_); }

 private:
  template <typename T>
  WireWriter& Fixed(T bits) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &bits, sizeof(T));
    text_.append(bytes, sizeof(T));
    return *this;
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
    text_.push_back(static_cast<char>(value));
  }

  std::string text_;
};

}  // namespace kinjo::format::proto
