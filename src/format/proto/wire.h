// The protobuf wire format, read without a protobuf library: the system's static library can't be
// linked into a shared object and a dynamic one would clash with the host process
// (docs/decisions/). A message is read as a sequence of fields; who knows the message picks the
// numbers it wants.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kinjo::format::proto {

/// Wire types that occur; groups are refused.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// One field of a message: its number and its value in the form that the wire type gives.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      ///< varint, fixed64 and fixed32
  std::string_view bytes;  ///< length-delimited; points into the message

  int64_t as_int64() const { return static_cast<int64_t>(value); }
  int32_t as_int32() const { return static_cast<int32_t>(value); }
  uint32_t as_uint32() const { return static_cast<uint32_t>(value); }
  bool as_bool() const { return value != 0; }
  float as_float() const {
    const auto bits = static_cast<uint32_t>(value);
    float result;
    std::memcpy(&result, &bits, sizeof(result));
    return result;
  }
  double as_double() const {
    double result;
    std::memcpy(&result, &value, sizeof(result));
    return result;
  }
  std::string as_string() const { return std::string(bytes); }
};

/// Walks the fields of one message. Never reads past its end; allocates nothing.
///
///   WireReader reader(bytes);
///   while (reader.Next()) switch (reader.field().number) { ... }
///   if (!reader.ok()) -> malformed
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : begin_(message.data()), position_(begin_), end_(begin_ + message.size()) {}

  /// Moves to the next field; false at the end or at the first malformed byte.
  bool Next();

  const WireField& field() const { return field_; }
  /// The bytes of the field: tag, length and value. Who keeps them can write the field again
  /// without knowing it.
  std::string_view encoded() const {
    return {field_begin_, static_cast<size_t>(position_ - field_begin_)};
  }
  bool ok() const { return ok_; }
  /// Where the reader stands, in bytes from the start of the message.
  size_t position() const { return static_cast<size_t>(position_ - begin_); }

 private:
  bool ReadVarint(uint64_t* value);
  bool Fail() {
    ok_ = false;
    return false;
  }

  const char* begin_;
  const char* field_begin_ = begin_;
  const char* position_;
  const char* end_;
  WireField field_;
  bool ok_ = true;
};

/// Appends the values of a repeated varint field, packed or not. False when malformed.
template <typename T>
bool AppendVarints(const WireField& field, std::vector<T>* values);

/// Appends the values of a repeated float field, packed or not. False when malformed.
bool AppendFloats(const WireField& field, std::vector<float>* values);

}  // namespace kinjo::format::proto
