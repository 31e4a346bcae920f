#include "option_text.h"

#include <charconv>
#include <limits>

namespace kinjo::jvm {
namespace {

[[noreturn]] void ThrowUnreadable(const Given& given, const std::string& wanted) {
  ThrowInvalid(std::string(given.name) + ": \"" + given.text + "\" is not " + wanted);
}

template <typename T>
T NumberOf(const Given& given, std::string_view text, const std::string& wanted) {
  T number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stopped, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stopped != end) ThrowUnreadable(given, wanted);
  return number;
}

}  // namespace

int64_t Integer(const Given& given) {
  return NumberOf<int64_t>(given, given.text, "a whole number");
}

double Decimal(const Given& given) { return NumberOf<double>(given, given.text, "a number"); }

bool Switch(const Given& given) {
  if (given.text == "true") return true;
  if (given.text != "false") ThrowUnreadable(given, "true or false");
  return false;
}

std::pair<float, float> Range(const Given& given) {
  const std::string wanted = "two numbers with a comma between them";
  const size_t comma = given.text.find(',');
  if (comma == std::string::npos) ThrowUnreadable(given, wanted);
  const std::string_view lower = std::string_view(given.text).substr(0, comma);
  const std::string_view upper = std::string_view(given.text).substr(comma + 1);
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  return {lower.empty() ? -kEndless : NumberOf<float>(given, lower, wanted),
          upper.empty() ? kEndless : NumberOf<float>(given, upper, wanted)};
}

std::vector<std::string> List(const Given& given) {
  std::vector<std::string> names;
  if (given.text.empty()) return names;
  std::string_view rest = given.text;
  while (true) {
    const size_t comma = rest.find(',');
    names.emplace_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return names;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace kinjo::jvm
