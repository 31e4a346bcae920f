#include "format/table/uuid.h"

#include <cstdint>
#include <cstring>
#include <random>

namespace kinjo::format {
namespace {

constexpr size_t kUuidBytes = 16;
constexpr size_t kBinaryBytes = 3;
constexpr char kDigits[] = "0123456789abcdef";

void AppendHex(char byte, std::string* text) {
  const auto bits = static_cast<unsigned char>(byte);
  text->push_back(kDigits[bits >> 4]);
  text->push_back(kDigits[bits & 15]);
}

std::optional<int> HexDigit(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

}  // namespace

std::string NewUuid() {
  std::random_device random;
  std::string bytes(kUuidBytes, '\0');
  for (size_t i = 0; i < kUuidBytes; i += sizeof(uint32_t)) {
    const uint32_t word = random();
    std::memcpy(bytes.data() + i, &word, sizeof(word));
  }
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);  // variant 1
  return bytes;
}

std::optional<std::string> UuidText(std::string_view bytes) {
  if (bytes.size() != kUuidBytes) return std::nullopt;
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    AppendHex(bytes[i], &text);
  }
  return text;
}

std::optional<std::string> ParseUuid(std::string_view text) {
  if (text.size() != 2 * kUuidBytes + 4) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size();) {
    if (i == 8 || i == 13 || i == 18 || i == 23) {
      if (text[i++] != '-') return std::nullopt;
      continue;
    }
    const auto high = HexDigit(text[i]);
    const auto low = HexDigit(text[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes.push_back(static_cast<char>(*high << 4 | *low));
    i += 2;
  }
  return bytes;
}

std::string NewDataFileName() {
  const std::string uuid = NewUuid();
  std::string name;
  for (size_t i = 0; i < kBinaryBytes; ++i) {
    for (int bit = 7; bit >= 0; --bit) name.push_back((uuid[i] >> bit & 1) != 0 ? '1' : '0');
  }
  for (size_t i = kBinaryBytes; i < kUuidBytes; ++i) AppendHex(uuid[i], &name);
  return name + ".lance";
}

}  // namespace kinjo::format
