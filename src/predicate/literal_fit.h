// Where a literal lies among the values of a type. Comparing an int column with 1.5, a uint8 column
// with -1 or a date with a time of day then means what it says, and stays a comparison within the
// column's own type.
#pragma once

#include <memory>
#include <optional>

#include "arrow/scalar.h"
#include "predicate/operand.h"

namespace kinjo::predicate {

enum class LiteralPlace : uint8_t {
  kExact,    ///< it is `value`
  kBetween,  ///< above `value` and below the next
  kBelow,    ///< below all values of the type
  kAbove,    ///< above all values of the type
};

struct LiteralFit {
  LiteralPlace place = LiteralPlace::kExact;
  std::shared_ptr<arrow::Scalar> value;
};

/// Fits `literal` to the type of `target`. A number as written is rounded to the nearest value of a
/// float type. Text is read as what the type holds; text that can't be is `invalid`. Nothing when a
/// common type must decide, or there is none. Requires: a literal that isn't null.
arrow::Result<std::optional<LiteralFit>> FitLiteral(const Operand& literal, const Operand& target);

}  // namespace kinjo::predicate
