#include "flag_value.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

namespace kinjo::cli {

namespace {

// The whole text as a number; nothing when it isn't one.
template <typename Number>
std::optional<Number> ParseNumber(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Bytes of a unit; nothing for an unknown one.
std::optional<double> UnitBytes(std::string unit) {
  for (char& letter : unit) letter = static_cast<char>(std::tolower(letter));
  if (unit == "b") return 1.0;
  const size_t power = std::string("kmgt").find(unit.empty() ? ' ' : unit[0]);
  if (power == std::string::npos) return std::nullopt;
  const std::string rest = unit.substr(1);
  if (rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  return std::nullopt;
}

// Seconds of a unit; nothing for an unknown one.
std::optional<double> UnitSeconds(const std::string& unit) {
  if (unit == "s") return 1.0;
  if (unit == "min") return 60.0;
  if (unit == "h") return 3600.0;
  if (unit == "d") return 86400.0;
  if (unit == "w") return 7 * 86400.0;
  return std::nullopt;
}

std::optional<float> ParseEnd(const std::string& text, float open) {
  if (text.empty()) return open;
  return ParseNumber<float>(text);
}

}  // namespace

std::string ReadText(const std::string& text, Text* value) {
  *value = text;
  return "";
}

std::string ReadCondition(const std::string& text, Condition* value) {
  *value = text;
  return text.empty() ? "is empty; leave it out to take every row" : "";
}

std::string ReadInteger(const std::string& text, Integer* value) {
  *value = ParseNumber<int64_t>(text);
  if (value->has_value()) return "";
  const size_t digits = text.substr(0, 1) == "-" ? 1 : 0;
  const bool whole =
      text.size() > digits && text.find_first_not_of("0123456789", digits) == std::string::npos;
  return whole ? "must be a whole number of 64 bits" : "must be a whole number";
}

std::string ReadDecimal(const std::string& text, Decimal* value) {
  *value = ParseNumber<double>(text);
  return value->has_value() && std::isfinite(**value) ? "" : "must be a number";
}

std::string ReadBytes(const std::string& text, Bytes* value) {
  const size_t unit_begin = text.find_first_not_of("0123456789.");
  const auto number = ParseNumber<double>(text.substr(0, unit_begin));
  const size_t letters = text.find_first_not_of(' ', unit_begin);
  const auto unit = unit_begin == std::string::npos || letters == std::string::npos
                        ? std::nullopt
                        : UnitBytes(text.substr(letters));
  if (!number || !unit) return "must be a size with its unit, for example 4GiB or 500MB";
  const double bytes = *number * *unit;
  if (bytes >= static_cast<double>(std::numeric_limits<int64_t>::max())) return "is too large";
  *value = static_cast<int64_t>(bytes);
  return "";
}

std::string ReadAge(const std::string& text, Age* value) {
  const size_t unit_begin = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto number = ParseNumber<double>(text.substr(0, unit_begin));
  const auto unit = UnitSeconds(text.substr(unit_begin));
  if (!number || !unit) return "must be a time with its unit (s, min, h, d, w), for example 14d";
  const double seconds = *number * *unit;
  if (seconds >= static_cast<double>(std::numeric_limits<int64_t>::max())) return "is too large";
  *value = static_cast<int64_t>(seconds);
  return "";
}

std::string ReadRange(const std::string& text, Range* value) {
  const size_t comma = text.find(',');
  if (comma != std::string::npos) {
    const float infinity = std::numeric_limits<float>::infinity();
    const auto lower = ParseEnd(text.substr(0, comma), -infinity);
    const auto upper = ParseEnd(text.substr(comma + 1), infinity);
    if (lower && upper) {
      *value = std::pair(*lower, *upper);
      return "";
    }
  }
  return "must be two numbers and a comma, for example 0,0.5";
}

std::string ReadList(const std::string& text, List* value) {
  value->emplace();
  if (text.empty()) return "";
  size_t begin = 0;
  while (true) {
    const size_t comma = text.find(',', begin);
    const std::string name = text.substr(begin, comma - begin);
    if (name.empty()) return "must be names separated by single commas";
    (*value)->push_back(name);
    if (comma == std::string::npos) return "";
    begin = comma + 1;
  }
}

std::string ReadPairs(const std::string& text, Pairs* value) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return "must be a key, '=' and its value";
  value->emplace_back(text.substr(0, equals), text.substr(equals + 1));
  return "";
}

std::string ReadColumn(const std::string& text, Column* value) {
  *value = text;
  return "";
}

std::string ReadSwitch(const std::string&, Switch* value) {
  *value = true;
  return "";
}

}  // namespace kinjo::cli
