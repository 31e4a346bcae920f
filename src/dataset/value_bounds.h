// What an expression over one column can be true of: intervals of values. An index skips what lies
// outside; whoever reads values between them still asks the expression.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arrow/array.h"
#include "predicate/expression.h"

namespace kinjo::dataset {

/// A value in a form that sorts as its type does: signed (also bool, dates, times), unsigned,
/// floating, bytes. Keys of one column are of one alternative.
using SortKey = std::variant<int64_t, uint64_t, double, std::string>;

/// The key of a value; nothing for null, NaN and types that have no key.
std::optional<SortKey> SortKeyOf(const arrow::Array& values, int64_t i);

/// A union of closed intervals. Immutable.
class ValueBounds {
 public:
  struct Interval {
    std::optional<SortKey> lower;  ///< nothing = unbounded
    std::optional<SortKey> upper;
  };

  /// Everything.
  ValueBounds() : intervals_(1) {}
  static ValueBounds None() { return ValueBounds(std::vector<Interval>{}); }

  /// Holds every value, null and NaN aside, for which a boolean expression over one column is true
  /// or unknown. May hold others too.
  static ValueBounds Of(const predicate::Expression& expression) { return Of(expression, true); }

  bool is_everything() const;
  /// False when no value from `minimum` to `maximum` lies inside. A missing end says nothing, and
  /// then there may be a NaN too, which no interval tells of.
  bool MayHold(const std::optional<SortKey>& minimum, const std::optional<SortKey>& maximum) const;

 private:
  explicit ValueBounds(std::vector<Interval> intervals) : intervals_(std::move(intervals)) {}
  /// The values for which the expression is `expected` or unknown.
  static ValueBounds Of(const predicate::Expression& expression, bool expected);
  static ValueBounds OfInputs(const predicate::Expression& expression, bool expected, bool united);
  static ValueBounds OfComparison(const predicate::Expression& expression, bool expected);
  static ValueBounds OfList(const predicate::Expression& expression);
  static ValueBounds OfPattern(const predicate::Expression& expression);
  static ValueBounds Intersect(const ValueBounds& a, const ValueBounds& b);
  static ValueBounds Unite(std::vector<Interval> intervals);

  std::vector<Interval> intervals_;  ///< rising, apart
};

}  // namespace kinjo::dataset
