#include "predicate/literal_fit.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "arrow/compute/cast.h"
#include "arrow/util/checked_cast.h"
#include "arrow/util/float16.h"
#include "arrow/util/int_util_overflow.h"
#include "predicate/position_error.h"
#include "predicate/temporal_literal.h"

namespace kinjo::predicate {

namespace {

using arrow::internal::checked_cast;
using Fit = arrow::Result<std::optional<LiteralFit>>;

Fit Exactly(std::shared_ptr<arrow::Scalar> value) {
  return LiteralFit{LiteralPlace::kExact, std::move(value)};
}
Fit Outside(bool below) {
  return LiteralFit{below ? LiteralPlace::kBelow : LiteralPlace::kAbove, nullptr};
}
LiteralPlace InsidePlace(bool exact) {
  return exact ? LiteralPlace::kExact : LiteralPlace::kBetween;
}

std::string TextOf(const arrow::Scalar& scalar) {
  return checked_cast<const arrow::BaseBinaryScalar&>(scalar).value->ToString();
}

/// The integer scalar of a decimal text; null when the type doesn't hold it.
template <typename Type>
std::shared_ptr<arrow::Scalar> IntegerScalar(const std::string& digits) {
  typename Type::c_type value = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return nullptr;
  return std::make_shared<typename arrow::TypeTraits<Type>::ScalarType>(value);
}

std::shared_ptr<arrow::Scalar> IntegerScalar(const arrow::DataType& type,
                                             const std::string& digits) {
  switch (type.id()) {
    case arrow::Type::INT8:
      return IntegerScalar<arrow::Int8Type>(digits);
    case arrow::Type::INT16:
      return IntegerScalar<arrow::Int16Type>(digits);
    case arrow::Type::INT32:
      return IntegerScalar<arrow::Int32Type>(digits);
    case arrow::Type::INT64:
      return IntegerScalar<arrow::Int64Type>(digits);
    case arrow::Type::UINT8:
      return IntegerScalar<arrow::UInt8Type>(digits);
    case arrow::Type::UINT16:
      return IntegerScalar<arrow::UInt16Type>(digits);
    case arrow::Type::UINT32:
      return IntegerScalar<arrow::UInt32Type>(digits);
    default:
      return IntegerScalar<arrow::UInt64Type>(digits);
  }
}

Fit FitInteger(const DecimalNumber& number, const TypePtr& type) {
  const DecimalNumber::Floor floor = number.FloorAt(0);
  if (floor.place == DecimalNumber::Place::kInside) {
    auto value = IntegerScalar(*type, floor.value.ToIntegerString());
    if (value != nullptr) return LiteralFit{InsidePlace(floor.exact), std::move(value)};
  }
  return Outside(number.is_negative());
}

Fit FitDecimal(const DecimalNumber& number, const TypePtr& type) {
  const auto& decimal = checked_cast<const arrow::DecimalType&>(*type);
  const DecimalNumber::Floor floor = number.FloorAt(decimal.scale());
  if (floor.place != DecimalNumber::Place::kInside ||
      !floor.value.FitsInPrecision(decimal.precision()))
    return Outside(number.is_negative());
  std::shared_ptr<arrow::Scalar> value;
  if (type->id() == arrow::Type::DECIMAL256) {
    value = std::make_shared<arrow::Decimal256Scalar>(floor.value, type);
  } else {
    ARROW_ASSIGN_OR_RAISE(const auto narrow,
                          arrow::Decimal128::FromString(floor.value.ToIntegerString()));
    value = std::make_shared<arrow::Decimal128Scalar>(narrow, type);
  }
  return LiteralFit{InsidePlace(floor.exact), std::move(value)};
}

/// A finite number beyond the largest float lies between that and infinity.
template <typename Scalar, typename Float>
Fit FloatFit(Float nearest, Float largest) {
  if (std::isinf(nearest)) {
    const Float floor = nearest > 0 ? largest : nearest;
    return LiteralFit{LiteralPlace::kBetween, std::make_shared<Scalar>(floor)};
  }
  return Exactly(std::make_shared<Scalar>(nearest));
}

Fit FitFloat(const DecimalNumber& number, const Operand& target) {
  if (target.type()->id() == arrow::Type::DOUBLE) {
    return FloatFit<arrow::DoubleScalar>(number.ToDouble(), std::numeric_limits<double>::max());
  }
  if (target.is_half) {
    const float nearest = arrow::util::Float16::FromDouble(number.ToDouble()).ToFloat();
    return FloatFit<arrow::FloatScalar>(nearest, 65504.0F);
  }
  return FloatFit<arrow::FloatScalar>(number.ToFloat(), std::numeric_limits<float>::max());
}

Fit FitNumber(const DecimalNumber& number, const Operand& target) {
  if (IsFloat(*target.type())) return FitFloat(number, target);
  if (IsInteger(*target.type())) return FitInteger(number, target.type());
  return FitDecimal(number, target.type());
}

/// The number that a literal of a number's type is; nothing of NaN and infinities.
arrow::Result<std::optional<DecimalNumber>> NumberOf(const Operand& literal) {
  if (literal.number.has_value()) return literal.number;
  const arrow::Scalar& scalar = *literal.expression->literal;
  if (IsFloat(*scalar.type)) {
    const double value = scalar.type->id() == arrow::Type::DOUBLE
                             ? checked_cast<const arrow::DoubleScalar&>(scalar).value
                             : checked_cast<const arrow::FloatScalar&>(scalar).value;
    if (!std::isfinite(value)) return std::nullopt;
    return DecimalNumber::FromDouble(value);
  }
  return DecimalNumber::Parse(scalar.ToString());
}

/// Literals that were computed as floats meet floats as floats: nothing to fit. NaN and infinities
/// lie outside of the types that don't have them.
Fit FitNumberLiteral(const Operand& literal, const Operand& target) {
  if (!IsNumber(*target.type())) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const std::optional<DecimalNumber> number, NumberOf(literal));
  const bool computed = !literal.number.has_value() && IsFloat(*literal.type());
  if (IsFloat(*target.type()) && computed) return std::nullopt;
  if (number.has_value()) return FitNumber(*number, target);
  return Outside(literal.expression->literal->ToString().starts_with('-'));
}

Fit FitTextAsNumber(const std::string& text, const Operand& literal, const Operand& target) {
  const std::optional<DecimalNumber> number = DecimalNumber::Parse(text);
  if (number.has_value()) return FitNumber(*number, target);
  if (IsFloat(*target.type())) {
    auto value = arrow::Scalar::Parse(target.type(), text);
    if (value.ok()) return Exactly(*value);
  }
  return InvalidAt(literal.position(), "expected a number to compare with ",
                   target.type()->ToString(), ", found '", text, "'");
}

int64_t UnitNanos(arrow::TimeUnit::type unit) {
  constexpr int64_t kNanos[] = {1'000'000'000, 1'000'000, 1'000, 1};
  return kNanos[unit];
}

Fit FitTimestamp(const Instant& instant, const TypePtr& type, arrow::TimeUnit::type unit) {
  const int64_t step = UnitNanos(unit);
  int64_t value = 0;
  if (arrow::internal::MultiplyWithOverflow(instant.seconds, 1'000'000'000 / step, &value) ||
      arrow::internal::AddWithOverflow(value, instant.nanos / step, &value))
    return Outside(instant.seconds < 0);
  std::shared_ptr<arrow::Scalar> scalar;
  if (type->id() == arrow::Type::DATE64) {
    scalar = std::make_shared<arrow::Date64Scalar>(value);
  } else {
    scalar = std::make_shared<arrow::TimestampScalar>(value, type);
  }
  return LiteralFit{InsidePlace(instant.nanos % step == 0), std::move(scalar)};
}

Fit FitDate(const Instant& instant) {
  constexpr int64_t kSecondsOfDay = 86'400;
  int64_t days = instant.seconds / kSecondsOfDay;
  int64_t rest = instant.seconds % kSecondsOfDay;
  if (rest < 0) {
    rest += kSecondsOfDay;
    --days;
  }
  const auto narrow = static_cast<int32_t>(days);
  if (narrow != days) return Outside(days < 0);
  return LiteralFit{InsidePlace(rest == 0 && instant.nanos == 0),
                    std::make_shared<arrow::Date32Scalar>(narrow)};
}

/// An instant without a zone is read on the clocks of the target's zone, if that has one.
Fit FitInstant(Instant instant, bool zoned, const Operand& literal, const TypePtr& type) {
  if (type->id() == arrow::Type::DATE32) return FitDate(instant);
  if (type->id() == arrow::Type::DATE64) return FitTimestamp(instant, type, arrow::TimeUnit::MILLI);
  const auto& timestamp = checked_cast<const arrow::TimestampType&>(*type);
  if (!zoned && !timestamp.timezone().empty()) {
    const auto utc = ToUtc(instant, timestamp.timezone());
    if (!utc.ok()) return InvalidAt(literal.position(), base::MessageOf(utc.status()));
    instant = *utc;
  }
  return FitTimestamp(instant, type, timestamp.unit());
}

Fit FitInstantLiteral(const Operand& literal, const Operand& target) {
  if (!IsInstant(*target.type())) return std::nullopt;
  const bool zoned = literal.type()->id() == arrow::Type::TIMESTAMP &&
                     !checked_cast<const arrow::TimestampType&>(*literal.type()).timezone().empty();
  return FitInstant(InstantOf(*literal.expression->literal), zoned, literal, target.type());
}

Fit FitTextAsInstant(const std::string& text, const Operand& literal, const Operand& target) {
  const std::optional<TemporalText> parsed = ParseTimestamp(text);
  if (parsed.has_value()) return FitInstant(parsed->instant, parsed->zoned, literal, target.type());
  return InvalidAt(literal.position(), "expected a date like '2024-02-29' or a time like ",
                   "'2024-02-29 23:59:59.5' to compare with ", target.type()->ToString(),
                   ", found '", text, "'");
}

Fit FitNanosOfDay(int64_t nanos, const TypePtr& type) {
  const int64_t step = UnitNanos(checked_cast<const arrow::TimeType&>(*type).unit());
  std::shared_ptr<arrow::Scalar> scalar;
  if (type->id() == arrow::Type::TIME32) {
    scalar = std::make_shared<arrow::Time32Scalar>(static_cast<int32_t>(nanos / step), type);
  } else {
    scalar = std::make_shared<arrow::Time64Scalar>(nanos / step, type);
  }
  return LiteralFit{InsidePlace(nanos % step == 0), std::move(scalar)};
}

Fit FitTextAsTime(const std::string& text, const Operand& literal, const Operand& target) {
  const std::optional<int64_t> nanos = ParseTimeOfDay(text);
  if (nanos.has_value()) return FitNanosOfDay(*nanos, target.type());
  return InvalidAt(literal.position(), "expected a time like '23:59:59.5' to compare with ",
                   target.type()->ToString(), ", found '", text, "'");
}

Fit FitTimeLiteral(const Operand& literal, const Operand& target) {
  if (!IsTime(*target.type())) return std::nullopt;
  const arrow::Scalar& scalar = *literal.expression->literal;
  const int64_t step = UnitNanos(checked_cast<const arrow::TimeType&>(*scalar.type).unit());
  const int64_t value = scalar.type->id() == arrow::Type::TIME32
                            ? checked_cast<const arrow::Time32Scalar&>(scalar).value
                            : checked_cast<const arrow::Time64Scalar&>(scalar).value;
  return FitNanosOfDay(value * step, target.type());
}

/// Bytes of another width than the type's have no place among its values.
Fit FitBytes(const std::string& bytes, const TypePtr& type) {
  if (type->id() == arrow::Type::FIXED_SIZE_BINARY &&
      checked_cast<const arrow::FixedSizeBinaryType&>(*type).byte_width() !=
          static_cast<int32_t>(bytes.size()))
    return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto scalar, arrow::MakeScalar(type, arrow::Buffer::FromString(bytes)));
  return Exactly(std::move(scalar));
}

Fit FitText(const Operand& literal, const Operand& target) {
  const arrow::DataType& type = *target.type();
  const std::string text = TextOf(*literal.expression->literal);
  if (IsText(type) || IsBytes(type)) return FitBytes(text, target.type());
  if (IsNumber(type)) return FitTextAsNumber(text, literal, target);
  if (IsInstant(type)) return FitTextAsInstant(text, literal, target);
  if (IsTime(type)) return FitTextAsTime(text, literal, target);
  if (type.id() != arrow::Type::BOOL) return std::nullopt;
  const auto value = arrow::Scalar::Parse(target.type(), text);
  if (value.ok()) return Exactly(*value);
  return InvalidAt(literal.position(), "expected 'true' or 'false' to compare with bool, found '",
                   text, "'");
}

}  // namespace

Fit FitLiteral(const Operand& literal, const Operand& target) {
  const arrow::DataType& type = *literal.type();
  if (IsNumber(type)) return FitNumberLiteral(literal, target);
  if (IsText(type)) return FitText(literal, target);
  if (IsBytes(type) && IsBytes(*target.type()))
    return FitBytes(TextOf(*literal.expression->literal), target.type());
  if (IsInstant(type)) return FitInstantLiteral(literal, target);
  if (IsTime(type)) return FitTimeLiteral(literal, target);
  if (type.Equals(*target.type())) return Exactly(literal.expression->literal);
  return std::nullopt;
}

}  // namespace kinjo::predicate
