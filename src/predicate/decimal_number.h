// Exact numbers of any size: a literal keeps the value that was written until the type it meets is
// known, so that comparing it never wraps around nor rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arrow/util/decimal.h"

namespace kinjo::predicate {

/// ± digits × 10^exponent. Immutable.
class DecimalNumber {
 public:
  /// A number in decimal digits with sign, point and exponent as in SQL; nothing around it.
  static std::optional<DecimalNumber> Parse(std::string_view text);
  /// Requires: finite.
  static DecimalNumber FromDouble(double value);

  enum class Place : uint8_t { kInside, kBelow, kAbove };
  struct Floor {
    Place place = Place::kInside;  ///< else farther from zero than 76 digits
    arrow::Decimal256 value;       ///< inside: the greatest whole number at or below
    bool exact = true;             ///< inside: it is the number itself
  };
  /// Of this number × 10^scale.
  Floor FloorAt(int32_t scale) const;

  /// Rounded once, to nearest even; infinite where too large.
  float ToFloat() const;
  double ToDouble() const;

  bool is_negative() const { return negative_; }
  /// Digits before and after the point: of 12.5 two and one, of 0.001 none and three.
  int64_t integer_digits() const;
  int64_t fraction_digits() const { return exponent_ < 0 ? -exponent_ : 0; }

 private:
  DecimalNumber(bool negative, std::string digits, int64_t exponent);
  std::string Text() const;

  bool negative_;
  std::string digits_;  ///< no zeros at either end; of zero it is empty
  int64_t exponent_;    ///< of zero 0
};

}  // namespace kinjo::predicate
