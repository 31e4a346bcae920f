#include "predicate/type_name.h"

#include <map>

namespace kinjo::predicate {

namespace {

using Type = std::shared_ptr<arrow::DataType>;

const std::map<std::string, Type>& PlainTypes() {
  static const std::map<std::string, Type> types = {
      {"boolean", arrow::boolean()},
      {"bool", arrow::boolean()},
      {"tinyint", arrow::int8()},
      {"smallint", arrow::int16()},
      {"int2", arrow::int16()},
      {"int", arrow::int32()},
      {"integer", arrow::int32()},
      {"int4", arrow::int32()},
      {"bigint", arrow::int64()},
      {"int8", arrow::int64()},
      {"tinyint unsigned", arrow::uint8()},
      {"smallint unsigned", arrow::uint16()},
      {"int unsigned", arrow::uint32()},
      {"integer unsigned", arrow::uint32()},
      {"bigint unsigned", arrow::uint64()},
      {"float", arrow::float32()},
      {"real", arrow::float32()},
      {"float4", arrow::float32()},
      {"double", arrow::float64()},
      {"double precision", arrow::float64()},
      {"float8", arrow::float64()},
      {"string", arrow::utf8()},
      {"text", arrow::utf8()},
      {"varchar", arrow::utf8()},
      {"char", arrow::utf8()},
      {"character", arrow::utf8()},
      {"character varying", arrow::utf8()},
      {"binary", arrow::binary()},
      {"varbinary", arrow::binary()},
      {"bytea", arrow::binary()},
      {"date", arrow::date32()},
      {"time", arrow::time64(arrow::TimeUnit::NANO)},
  };
  return types;
}

arrow::Result<Type> DecimalType(const std::vector<int64_t>& numbers) {
  const int64_t precision = numbers.empty() ? 38 : numbers[0];
  const int64_t default_scale = numbers.empty() ? 10 : 0;
  const int64_t scale = numbers.size() < 2 ? default_scale : numbers[1];
  if (numbers.size() > 2 || precision < 1 || precision > 76 || scale < 0 || scale > precision) {
    return base::Invalid(
        "DECIMAL takes a precision from 1 to 76 and a scale from 0 to the precision");
  }
  const auto p = static_cast<int32_t>(precision);
  const auto s = static_cast<int32_t>(scale);
  return precision > 38 ? arrow::decimal256(p, s) : arrow::decimal128(p, s);
}

arrow::Result<Type> TimestampType(const std::vector<int64_t>& numbers, const std::string& zone) {
  const int64_t digits = numbers.empty() ? 9 : numbers[0];
  if (numbers.size() > 1 || digits < 0 || digits > 9 || digits % 3 != 0)
    return base::Invalid("TIMESTAMP takes 0, 3, 6 or 9 digits of a second");
  return arrow::timestamp(static_cast<arrow::TimeUnit::type>(digits / 3), zone);
}

}  // namespace

arrow::Result<Type> TypeNamed(const std::string& name, const std::vector<int64_t>& numbers) {
  if (name == "decimal" || name == "numeric") return DecimalType(numbers);
  if (name == "timestamp" || name == "datetime" || name == "timestamp without time zone")
    return TimestampType(numbers, "");
  if (name == "timestamptz" || name == "timestamp with time zone")
    return TimestampType(numbers, "UTC");
  const auto found = PlainTypes().find(name);
  if (found == PlainTypes().end()) return Type{};
  if (!numbers.empty()) return base::Invalid(name, " takes no length");
  return found->second;
}

}  // namespace kinjo::predicate
