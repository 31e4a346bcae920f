#include "dataset/value_bounds.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "arrow/array/array_binary.h"
#include "arrow/array/array_primitive.h"
#include "arrow/array/util.h"
#include "arrow/util/float16.h"

namespace kinjo::dataset {
namespace {

using predicate::Expression;
using predicate::ExpressionKind;

template <typename ArrayType, typename Wide>
std::optional<SortKey> NumberKey(const arrow::Array& values, int64_t i) {
  return SortKey(static_cast<Wide>(static_cast<const ArrayType&>(values).Value(i)));
}

std::optional<SortKey> FloatKey(double value) {
  if (std::isnan(value)) return std::nullopt;
  return SortKey(value);
}

template <typename ArrayType>
std::optional<SortKey> BytesKey(const arrow::Array& values, int64_t i) {
  return SortKey(std::string(static_cast<const ArrayType&>(values).GetView(i)));
}

std::optional<SortKey> KeyOfLiteral(const Expression& expression) {
  if (expression.kind != ExpressionKind::kLiteral || expression.literal == nullptr) return {};
  const auto array = arrow::MakeArrayFromScalar(*expression.literal, 1);
  if (!array.ok()) return std::nullopt;
  return SortKeyOf(**array, 0);
}

bool IsColumn(const Expression& expression) { return expression.kind == ExpressionKind::kColumn; }

using End = std::optional<SortKey>;

/// Of lower ends: a missing one comes first.
bool LowerBefore(const End& a, const End& b) {
  if (!a.has_value() || !b.has_value()) return b.has_value() && !a.has_value();
  return *a < *b;
}

/// Of upper ends: a missing one comes last.
bool UpperBefore(const End& a, const End& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() && !b.has_value();
  return *a < *b;
}

/// Whether anything lies between a lower and an upper end.
bool IsOpen(const End& lower, const End& upper) {
  return !lower.has_value() || !upper.has_value() || !(*upper < *lower);
}

/// The letters of a pattern before the first wild one; the whole pattern may be more.
std::string PrefixOf(const std::string& pattern) {
  return pattern.substr(0, pattern.find_first_of("%_\\"));
}

/// The least text above all that begin with `prefix`; nothing when there is none.
std::optional<SortKey> AfterPrefix(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return SortKey(std::move(prefix));
}

}  // namespace

std::optional<SortKey> SortKeyOf(const arrow::Array& values, int64_t i) {
  if (values.IsNull(i)) return std::nullopt;
  switch (values.type_id()) {
    case arrow::Type::BOOL:
      return NumberKey<arrow::BooleanArray, int64_t>(values, i);
    case arrow::Type::INT8:
      return NumberKey<arrow::Int8Array, int64_t>(values, i);
    case arrow::Type::INT16:
      return NumberKey<arrow::Int16Array, int64_t>(values, i);
    case arrow::Type::INT32:
      return NumberKey<arrow::Int32Array, int64_t>(values, i);
    case arrow::Type::DATE32:
      return NumberKey<arrow::Date32Array, int64_t>(values, i);
    case arrow::Type::TIME32:
      return NumberKey<arrow::Time32Array, int64_t>(values, i);
    case arrow::Type::INT64:
      return NumberKey<arrow::Int64Array, int64_t>(values, i);
    case arrow::Type::DATE64:
      return NumberKey<arrow::Date64Array, int64_t>(values, i);
    case arrow::Type::TIME64:
      return NumberKey<arrow::Time64Array, int64_t>(values, i);
    case arrow::Type::TIMESTAMP:
      return NumberKey<arrow::TimestampArray, int64_t>(values, i);
    case arrow::Type::DURATION:
      return NumberKey<arrow::DurationArray, int64_t>(values, i);
    case arrow::Type::UINT8:
      return NumberKey<arrow::UInt8Array, uint64_t>(values, i);
    case arrow::Type::UINT16:
      return NumberKey<arrow::UInt16Array, uint64_t>(values, i);
    case arrow::Type::UINT32:
      return NumberKey<arrow::UInt32Array, uint64_t>(values, i);
    case arrow::Type::UINT64:
      return NumberKey<arrow::UInt64Array, uint64_t>(values, i);
    case arrow::Type::HALF_FLOAT: {
      const uint16_t bits = static_cast<const arrow::HalfFloatArray&>(values).Value(i);
      return FloatKey(arrow::util::Float16::FromBits(bits).ToDouble());
    }
    case arrow::Type::FLOAT:
      return FloatKey(static_cast<const arrow::FloatArray&>(values).Value(i));
    case arrow::Type::DOUBLE:
      return FloatKey(static_cast<const arrow::DoubleArray&>(values).Value(i));
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return BytesKey<arrow::BinaryArray>(values, i);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return BytesKey<arrow::LargeBinaryArray>(values, i);
    case arrow::Type::FIXED_SIZE_BINARY:
      return BytesKey<arrow::FixedSizeBinaryArray>(values, i);
    default:
      return std::nullopt;
  }
}

bool ValueBounds::is_everything() const {
  return intervals_.size() == 1 && !intervals_[0].lower.has_value() &&
         !intervals_[0].upper.has_value();
}

bool ValueBounds::MayHold(const End& minimum, const End& maximum) const {
  // The first interval that doesn't end before the minimum.
  const auto found = std::partition_point(
      intervals_.begin(), intervals_.end(),
      [&](const Interval& interval) { return !IsOpen(minimum, interval.upper); });
  return found != intervals_.end() && IsOpen(found->lower, maximum);
}

ValueBounds ValueBounds::Unite(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return LowerBefore(a.lower, b.lower); });
  std::vector<Interval> apart;
  for (Interval& interval : intervals) {
    if (apart.empty() || !IsOpen(interval.lower, apart.back().upper)) {
      apart.push_back(std::move(interval));
    } else if (UpperBefore(apart.back().upper, interval.upper)) {
      apart.back().upper = std::move(interval.upper);
    }
  }
  return ValueBounds(std::move(apart));
}

ValueBounds ValueBounds::Intersect(const ValueBounds& a, const ValueBounds& b) {
  std::vector<Interval> both;
  auto left = a.intervals_.begin();
  auto right = b.intervals_.begin();
  while (left != a.intervals_.end() && right != b.intervals_.end()) {
    const End& lower = LowerBefore(left->lower, right->lower) ? right->lower : left->lower;
    const bool left_ends = UpperBefore(left->upper, right->upper);
    const End& upper = left_ends ? left->upper : right->upper;
    if (IsOpen(lower, upper)) both.push_back({lower, upper});
    left_ends ? ++left : ++right;
  }
  return ValueBounds(std::move(both));
}

ValueBounds ValueBounds::OfInputs(const Expression& expression, bool expected, bool united) {
  std::vector<Interval> all;
  ValueBounds common;
  for (const auto& input : expression.inputs) {
    ValueBounds bounds = Of(*input, expected);
    if (united) {
      std::move(bounds.intervals_.begin(), bounds.intervals_.end(), std::back_inserter(all));
    } else {
      common = Intersect(common, bounds);
    }
  }
  return united ? Unite(std::move(all)) : common;
}

ValueBounds ValueBounds::OfComparison(const Expression& expression, bool expected) {
  if (!IsColumn(*expression.inputs[0])) return {};
  const End key = KeyOfLiteral(*expression.inputs[1]);
  if (!key.has_value()) return {};
  const bool is_equality = expression.kind == ExpressionKind::kEqual;
  if (is_equality || expression.kind == ExpressionKind::kNotEqual) {
    if (is_equality != expected) return {};
    return ValueBounds({Interval{key, key}});
  }
  const bool is_less =
      expression.kind == ExpressionKind::kLess || expression.kind == ExpressionKind::kLessEqual;
  Interval interval;
  (is_less == expected ? interval.upper : interval.lower) = key;
  return ValueBounds({std::move(interval)});
}

ValueBounds ValueBounds::OfList(const Expression& expression) {
  if (!IsColumn(*expression.inputs[0]) || expression.values_have_null) return {};
  std::vector<Interval> points;
  for (int64_t i = 0; i < expression.values->length(); ++i) {
    End key = SortKeyOf(*expression.values, i);
    if (!key.has_value()) return {};
    points.push_back({key, key});
  }
  return Unite(std::move(points));
}

ValueBounds ValueBounds::OfPattern(const Expression& expression) {
  if (!IsColumn(*expression.inputs[0])) return {};
  const End pattern = KeyOfLiteral(*expression.inputs[1]);
  if (!pattern.has_value() || !std::holds_alternative<std::string>(*pattern)) return {};
  const std::string prefix = PrefixOf(std::get<std::string>(*pattern));
  if (prefix.empty()) return {};
  return ValueBounds({{SortKey(prefix), AfterPrefix(prefix)}});
}

ValueBounds ValueBounds::Of(const Expression& expression, bool expected) {
  switch (expression.kind) {
    case ExpressionKind::kAnd:
      return OfInputs(expression, expected, /*united=*/!expected);
    case ExpressionKind::kOr:
      return OfInputs(expression, expected, /*united=*/expected);
    case ExpressionKind::kNot:
      return Of(*expression.inputs[0], !expected);
    case ExpressionKind::kEqual:
    case ExpressionKind::kNotEqual:
    case ExpressionKind::kLess:
    case ExpressionKind::kLessEqual:
    case ExpressionKind::kGreater:
    case ExpressionKind::kGreaterEqual:
      return OfComparison(expression, expected);
    case ExpressionKind::kIn:
      return expected ? OfList(expression) : ValueBounds();
    case ExpressionKind::kLike:
      return expected ? OfPattern(expression) : ValueBounds();
    case ExpressionKind::kIsNull:
    case ExpressionKind::kIsNan:  // no interval tells of NaN
      return expected && IsColumn(*expression.inputs[0]) ? None() : ValueBounds();
    default:
      return {};
  }
}

}  // namespace kinjo::dataset
