#include "predicate/value_type.h"

#include <algorithm>

#include "arrow/extension_type.h"
#include "arrow/type_traits.h"
#include "arrow/util/checked_cast.h"

namespace kinjo::predicate {

namespace {

using arrow::internal::checked_cast;

constexpr int32_t kMaximumPrecision = 76;

int32_t Digits(const arrow::DataType& integer) {
  switch (arrow::bit_width(integer.id())) {
    case 8:
      return 3;
    case 16:
      return 5;
    case 32:
      return 10;
    default:
      return arrow::is_unsigned_integer(integer.id()) ? 20 : 19;
  }
}

TypePtr MakeDecimal(int32_t precision, int32_t scale) {
  return precision <= 38 ? arrow::decimal128(precision, scale)
                         : arrow::decimal256(precision, scale);
}

TypePtr CommonInteger(const TypePtr& left, const TypePtr& right) {
  const bool left_unsigned = arrow::is_unsigned_integer(left->id());
  if (left_unsigned == arrow::is_unsigned_integer(right->id()))
    return arrow::bit_width(left->id()) >= arrow::bit_width(right->id()) ? left : right;
  const int unsigned_bits = arrow::bit_width((left_unsigned ? left : right)->id());
  const int signed_bits = arrow::bit_width((left_unsigned ? right : left)->id());
  if (unsigned_bits == 64) return MakeDecimal(20, 0);
  const int bits = std::max(signed_bits, unsigned_bits * 2);
  if (bits == 16) return arrow::int16();
  return bits == 32 ? arrow::int32() : arrow::int64();
}

TypePtr CommonDecimal(const TypePtr& left, const TypePtr& right) {
  const TypePtr left_decimal = DecimalOf(*left);
  const TypePtr right_decimal = DecimalOf(*right);
  const auto& a = checked_cast<const arrow::DecimalType&>(*left_decimal);
  const auto& b = checked_cast<const arrow::DecimalType&>(*right_decimal);
  const int32_t scale = std::max(a.scale(), b.scale());
  const int32_t whole = std::max(a.precision() - a.scale(), b.precision() - b.scale());
  if (whole + scale > kMaximumPrecision) return arrow::float64();
  return MakeDecimal(whole + scale, scale);
}

TypePtr CommonNumber(const TypePtr& left, const TypePtr& right) {
  if (IsFloat(*left) || IsFloat(*right)) return arrow::float64();
  if (IsDecimal(*left) || IsDecimal(*right)) return CommonDecimal(left, right);
  return CommonInteger(left, right);
}

TypePtr CommonInstant(const TypePtr& left, const TypePtr& right) {
  const auto unit = [](const arrow::DataType& type) {
    if (type.id() == arrow::Type::DATE32) return arrow::TimeUnit::SECOND;
    if (type.id() == arrow::Type::DATE64) return arrow::TimeUnit::MILLI;
    return checked_cast<const arrow::TimestampType&>(type).unit();
  };
  const auto is_zoned = [](const arrow::DataType& type) {
    return type.id() == arrow::Type::TIMESTAMP &&
           !checked_cast<const arrow::TimestampType&>(type).timezone().empty();
  };
  if (is_zoned(*left) != is_zoned(*right)) return nullptr;
  return arrow::timestamp(std::max(unit(*left), unit(*right)), is_zoned(*left) ? "UTC" : "");
}

TypePtr CommonTime(const TypePtr& left, const TypePtr& right) {
  const auto unit = std::max(checked_cast<const arrow::TimeType&>(*left).unit(),
                             checked_cast<const arrow::TimeType&>(*right).unit());
  return unit <= arrow::TimeUnit::MILLI ? arrow::time32(unit) : arrow::time64(unit);
}

}  // namespace

TypePtr ValueType(const TypePtr& stored) {
  switch (stored->id()) {
    case arrow::Type::EXTENSION:
      return ValueType(checked_cast<const arrow::ExtensionType&>(*stored).storage_type());
    case arrow::Type::DICTIONARY:
      return ValueType(checked_cast<const arrow::DictionaryType&>(*stored).value_type());
    case arrow::Type::RUN_END_ENCODED:
      return ValueType(checked_cast<const arrow::RunEndEncodedType&>(*stored).value_type());
    case arrow::Type::HALF_FLOAT:
      return arrow::float32();
    case arrow::Type::DECIMAL32:
    case arrow::Type::DECIMAL64:
      return DecimalOf(*stored);
    case arrow::Type::STRING_VIEW:
      return arrow::large_utf8();
    case arrow::Type::BINARY_VIEW:
      return arrow::large_binary();
    default:
      return stored;
  }
}

bool IsInteger(const arrow::DataType& type) { return arrow::is_integer(type.id()); }
bool IsFloat(const arrow::DataType& type) {
  return type.id() == arrow::Type::FLOAT || type.id() == arrow::Type::DOUBLE;
}
bool IsDecimal(const arrow::DataType& type) { return arrow::is_decimal(type.id()); }
bool IsNumber(const arrow::DataType& type) {
  return IsInteger(type) || IsFloat(type) || IsDecimal(type);
}
bool IsText(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING;
}
bool IsBytes(const arrow::DataType& type) {
  return type.id() == arrow::Type::BINARY || type.id() == arrow::Type::LARGE_BINARY ||
         type.id() == arrow::Type::FIXED_SIZE_BINARY;
}
bool IsInstant(const arrow::DataType& type) {
  return arrow::is_date(type.id()) || type.id() == arrow::Type::TIMESTAMP;
}
bool IsTime(const arrow::DataType& type) { return arrow::is_time(type.id()); }
bool IsList(const arrow::DataType& type) {
  return type.id() == arrow::Type::LIST || type.id() == arrow::Type::LARGE_LIST ||
         type.id() == arrow::Type::FIXED_SIZE_LIST;
}
bool IsComparable(const arrow::DataType& type) {
  return type.id() == arrow::Type::BOOL || IsNumber(type) || IsText(type) || IsBytes(type) ||
         IsInstant(type) || IsTime(type) || type.id() == arrow::Type::DURATION;
}

TypePtr DecimalOf(const arrow::DataType& type) {
  if (IsInteger(type)) return MakeDecimal(Digits(type), 0);
  const auto& decimal = checked_cast<const arrow::DecimalType&>(type);
  return MakeDecimal(decimal.precision(), decimal.scale());
}

TypePtr CommonType(const TypePtr& left, const TypePtr& right) {
  if (left->Equals(*right)) return left;
  if (left->id() == arrow::Type::NA) return right;
  if (right->id() == arrow::Type::NA) return left;
  if (IsNumber(*left) && IsNumber(*right)) return CommonNumber(left, right);
  if (IsText(*left) && IsText(*right)) return arrow::large_utf8();
  const bool left_bytes = IsBytes(*left) || IsText(*left);
  const bool right_bytes = IsBytes(*right) || IsText(*right);
  if (left_bytes && right_bytes) return arrow::large_binary();
  if (IsInstant(*left) && IsInstant(*right)) return CommonInstant(left, right);
  if (IsTime(*left) && IsTime(*right)) return CommonTime(left, right);
  return nullptr;
}

}  // namespace kinjo::predicate
