// Manifests made by hand for tests: a minimal protobuf writer and the file around the message.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "arrow/buffer.h"

namespace kinjo::format::synthetic {

/// Collects the fields of one message.
class Message {
 public:
  Message() = default;
  /// Starts from encoded fields.
  explicit Message(std::string encoded) : text_(std::move(encoded)) {}

  Message& Number(uint32_t field, uint64_t value) {
    Varint(uint64_t{field} << 3);
    Varint(value);
    return *this;
  }
  Message& Bytes(uint32_t field, std::string_view bytes) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(bytes.size());
    text_.append(bytes);
    return *this;
  }
  Message& Sub(uint32_t field, const Message& message) { return Bytes(field, message.text()); }

  const std::string& text() const { return text_; }

 private:
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
    text_.push_back(static_cast<char>(value));
  }

  std::string text_;
};

/// A field of the schema at the top level.
inline Message Column(int32_t id, const std::string& name, const std::string& type) {
  return Message()
      .Bytes(2, name)
      .Number(3, static_cast<uint64_t>(id))
      .Number(4, ~uint64_t{0})
      .Bytes(5, type)
      .Number(6, 1);
}

/// A data file of version 2.2 that stores field 0 in column 0.
inline Message File(const std::string& path, uint64_t major = 2, uint64_t minor = 2) {
  const std::string zero(1, '\0');
  return Message().Bytes(1, path).Bytes(2, zero).Bytes(3, zero).Number(4, major).Number(5, minor);
}

inline Message DataFragment(uint64_t id, uint64_t rows, const std::string& path) {
  return Message().Number(1, id).Sub(2, File(path)).Number(4, rows);
}

/// The start of a manifest of one column `id`; add fragments and whatever a test is about.
inline Message ManifestOf(uint64_t version, const std::string& data_format = "2.2") {
  return Message()
      .Sub(1, Column(0, "id", "int64"))
      .Number(3, version)
      .Sub(15, Message().Bytes(1, "lance").Bytes(2, data_format));
}

inline std::string LittleEndian(uint64_t value, size_t bytes) {
  std::string text(bytes, '\0');
  std::memcpy(text.data(), &value, bytes);
  return text;
}

inline std::string Section(std::string_view message) {
  return LittleEndian(message.size(), 4).append(message);
}

/// A manifest file; `before` are the sections in front of the message.
inline std::string ManifestFile(const Message& manifest, const std::string& before = {}) {
  std::string file = before + Section(manifest.text());
  return file + LittleEndian(before.size(), 8) + std::string("\0\0\2\0LANC", 8);
}

}  // namespace kinjo::format::synthetic
