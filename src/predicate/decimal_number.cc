#include "predicate/decimal_number.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace kinjo::predicate {

namespace {

constexpr int64_t kMaximumDigits = 76;               // of a Decimal256
constexpr int64_t kMaximumExponent = 1'000'000'000;  // far beyond every type's range

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the front of `text`.
std::string_view TakeDigits(std::string_view* text) {
  const auto end = std::find_if_not(text->begin(), text->end(), IsDigit);
  const std::string_view digits = text->substr(0, static_cast<size_t>(end - text->begin()));
  text->remove_prefix(digits.size());
  return digits;
}

/// The value of "e-12"; nothing when it is no exponent.
std::optional<int64_t> ParseExponent(std::string_view text) {
  text.remove_prefix(1);
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsDigit)) return std::nullopt;
  int64_t value = 0;
  for (const char c : text) value = std::min(value * 10 + (c - '0'), kMaximumExponent);
  return negative ? -value : value;
}

}  // namespace

DecimalNumber::DecimalNumber(bool negative, std::string digits, int64_t exponent)
    : negative_(negative), digits_(std::move(digits)), exponent_(exponent) {
  const size_t last = digits_.find_last_not_of('0');
  const size_t kept = last == std::string::npos ? 0 : last + 1;
  exponent_ += static_cast<int64_t>(digits_.size() - kept);
  digits_.resize(kept);
  digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
  if (digits_.empty()) {
    negative_ = false;
    exponent_ = 0;
  }
}

std::optional<DecimalNumber> DecimalNumber::Parse(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  std::string digits(TakeDigits(&text));
  int64_t exponent = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::string_view fraction = TakeDigits(&text);
    exponent = -static_cast<int64_t>(fraction.size());
    digits += fraction;
  }
  if (digits.empty()) return std::nullopt;
  if (!text.empty()) {
    if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
    const std::optional<int64_t> shift = ParseExponent(text);
    if (!shift.has_value()) return std::nullopt;
    exponent += *shift;
  }
  return DecimalNumber(negative, std::move(digits), exponent);
}

DecimalNumber DecimalNumber::FromDouble(double value) {
  // A double has at most 767 significant digits, so this is its exact value.
  std::array<char, 800> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.767e", value);
  std::string plain(text.data(), static_cast<size_t>(length));
  std::replace(plain.begin(), plain.end(), ',', '.');
  return *Parse(plain);
}

int64_t DecimalNumber::integer_digits() const {
  return std::max<int64_t>(static_cast<int64_t>(digits_.size()) + exponent_, 0);
}

DecimalNumber::Floor DecimalNumber::FloorAt(int32_t scale) const {
  Floor floor;
  const int64_t shift = exponent_ + scale;
  const int64_t length = static_cast<int64_t>(digits_.size()) + shift;
  if (!digits_.empty() && length > kMaximumDigits) {
    floor.place = negative_ ? Place::kBelow : Place::kAbove;
    return floor;
  }
  floor.exact = shift >= 0 || digits_.empty();
  std::string whole = digits_;
  if (!digits_.empty()) whole.resize(static_cast<size_t>(std::max<int64_t>(length, 0)), '0');
  if (!whole.empty()) floor.value = arrow::Decimal256::FromString(whole).ValueOr(0);
  if (negative_) {
    floor.value.Negate();
    if (!floor.exact) floor.value -= arrow::Decimal256(1);
  }
  return floor;
}

std::string DecimalNumber::Text() const {
  // No point, so that the locale doesn't matter.
  return (negative_ ? "-" : "") + (digits_.empty() ? "0" : digits_) + "e" +
         std::to_string(exponent_);
}

float DecimalNumber::ToFloat() const { return std::strtof(Text().c_str(), nullptr); }
double DecimalNumber::ToDouble() const { return std::strtod(Text().c_str(), nullptr); }

}  // namespace kinjo::predicate
