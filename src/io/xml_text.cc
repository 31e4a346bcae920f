#include "io/xml_text.h"

#include <array>
#include <charconv>
#include <ctime>

#include "base/error.h"

namespace kinjo::io {
namespace {

void AppendUtf8(uint32_t code, std::string* text) {
  const auto add = [&](uint32_t byte) { *text += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      add(0xe0 | code >> 12);
    } else {
      add(0xf0 | (code >> 18 & 7));
      add(0x80 | (code >> 12 & 0x3f));
    }
    add(0x80 | (code >> 6 & 0x3f));
  }
  add(0x80 | (code & 0x3f));
}

/// Reads the `digits` digits at `at`; false where something else stands there.
bool ReadNumber(std::string_view text, size_t at, size_t digits, int* number) {
  if (text.size() < at + digits) return false;
  const char* begin = text.substr(at).data();
  const char* last = begin + digits;
  const auto [end, error] = std::from_chars(begin, last, *number);
  return error == std::errc() && end == last && *number >= 0;
}

/// Reads HH:MM:SS at `at`.
bool ReadClock(std::string_view text, size_t at, std::tm* parts) {
  return ReadNumber(text, at, 2, &parts->tm_hour) && ReadNumber(text, at + 3, 2, &parts->tm_min) &&
         ReadNumber(text, at + 6, 2, &parts->tm_sec);
}

/// Appends what `entity` (between & and ;) stands for; false when it isn't known.
bool AppendEntity(std::string_view entity, std::string* text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [name, c] : kNamed) {
    if (name != entity) continue;
    *text += c;
    return true;
  }
  if (!entity.starts_with('#')) return false;
  entity.remove_prefix(1);
  const bool is_hex = entity.starts_with('x') || entity.starts_with('X');
  if (is_hex) entity.remove_prefix(1);
  uint32_t code = 0;
  const std::string digits(entity);
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, code, is_hex ? 16 : 10);
  if (error != std::errc() || end != last || entity.empty() || code > 0x10ffff) return false;
  AppendUtf8(code, text);
  return true;
}

std::string Unescaped(std::string_view xml) {
  std::string text;
  while (!xml.empty()) {
    const size_t begin = xml.find('&');
    text.append(xml.substr(0, begin));
    if (begin == std::string_view::npos) break;
    xml.remove_prefix(begin);
    const size_t end = xml.find(';');
    if (end != std::string_view::npos && AppendEntity(xml.substr(1, end - 1), &text)) {
      xml.remove_prefix(end + 1);
    } else {
      text += '&';
      xml.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

std::vector<std::string_view> XmlElements(std::string_view xml, std::string_view name) {
  std::vector<std::string_view> elements;
  const std::string open = base::Concat("<", name);
  const std::string close = base::Concat("</", name, ">");
  size_t at = 0;
  while ((at = xml.find(open, at)) != std::string_view::npos) {
    at += open.size();
    if (at >= xml.size()) break;
    const char next = xml[at];
    if (next != '>' && next != ' ' && next != '/') continue;  // of a longer name
    const size_t begin = xml.find('>', at);
    if (begin == std::string_view::npos) break;
    if (xml[begin - 1] == '/') {
      elements.push_back({});
      continue;
    }
    const size_t end = xml.find(close, begin);
    if (end == std::string_view::npos) break;
    elements.push_back(xml.substr(begin + 1, end - begin - 1));
    at = end + close.size();
  }
  return elements;
}

std::optional<std::string> XmlText(std::string_view xml, std::string_view name) {
  const std::vector<std::string_view> elements = XmlElements(xml, name);
  if (elements.empty()) return std::nullopt;
  return Unescaped(elements.front());
}

std::string XmlEscaped(std::string_view text) {
  std::string xml;
  for (const char c : text) {
    if (c == '&') {
      xml += "&amp;";
    } else if (c == '<') {
      xml += "&lt;";
    } else if (c == '>') {
      xml += "&gt;";
    } else if (c == '"') {
      xml += "&quot;";
    } else {
      xml += c;
    }
  }
  return xml;
}

std::optional<int64_t> SecondsOfIsoTime(std::string_view text) {
  std::tm parts{};
  if (!ReadNumber(text, 0, 4, &parts.tm_year) || !ReadNumber(text, 5, 2, &parts.tm_mon) ||
      !ReadNumber(text, 8, 2, &parts.tm_mday) || !ReadClock(text, 11, &parts)) {
    return std::nullopt;
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return timegm(&parts);
}

std::optional<int64_t> SecondsOfHttpTime(std::string_view text) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::tm parts{};
  if (!ReadNumber(text, 5, 2, &parts.tm_mday) || !ReadNumber(text, 12, 4, &parts.tm_year) ||
      !ReadClock(text, 17, &parts)) {
    return std::nullopt;
  }
  const size_t at = kMonths.find(text.substr(8, 3));
  if (at == std::string_view::npos || at % 3 != 0) return std::nullopt;
  parts.tm_mon = static_cast<int>(at / 3);
  parts.tm_year -= 1900;
  return timegm(&parts);
}

}  // namespace kinjo::io
