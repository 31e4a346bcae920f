#include "join/key_columns.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "arrow/array/array_dict.h"
#include "arrow/compute/api_vector.h"
#include "arrow/compute/cast.h"
#include "arrow/type_traits.h"
#include "arrow/util/decimal.h"
#include "arrow/util/float16.h"
#include "dataset/column_path.h"
#include "join/row_bytes.h"

namespace kinjo::join {

namespace {

const arrow::DataType* ValueType(const arrow::DataType* type) {
  if (type->id() != arrow::Type::DICTIONARY) return type;
  return static_cast<const arrow::DictionaryType*>(type)->value_type().get();
}

/// What two columns must share to be compared; "" for types whose values can't be keys.
std::string KindOf(const arrow::DataType& given) {
  const arrow::DataType& type = *ValueType(&given);
  if (arrow::is_integer(type.id())) return "an integer";
  if (arrow::is_floating(type.id())) return "a float";
  if (arrow::is_decimal(type.id())) return "a decimal";
  switch (type.id()) {
    case arrow::Type::BOOL:
      return "a boolean";
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
      return "a string";
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
    case arrow::Type::FIXED_SIZE_BINARY:
      return "bytes";
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return "a date";
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return "a time";
    case arrow::Type::DURATION:
      return "a duration";
    case arrow::Type::TIMESTAMP:
      return static_cast<const arrow::TimestampType&>(type).timezone().empty()
                 ? "a timestamp"
                 : "a timestamp with time zone";
    default:
      return "";
  }
}

arrow::Result<KeyColumn> FindKey(const char* option, const std::string& name, const Side& side) {
  const std::vector<int> found = side.schema->GetAllFieldIndices(name);
  const auto field =
      found.empty() ? dataset::FindNested(*side.schema, name) : side.schema->field(found[0]);
  if (field == nullptr) {
    std::string names;
    for (const std::string& known : side.schema->field_names()) {
      names += (names.empty() ? "" : ", ") + known;
    }
    return base::NotFound(option, ": the ", side.name, " side (", side.uri, ") has no column \"",
                          name, "\"; its columns: ", names);
  }
  if (found.size() > 1) {
    return base::Invalid(option, ": the ", side.name, " side (", side.uri, ") has ", found.size(),
                         " columns named \"", name, "\"");
  }
  if (KindOf(*field->type()).empty()) {
    return base::Invalid(option, ": ", side.name, " column \"", name, "\" of ", side.uri, " is ",
                         field->type()->ToString(),
                         ", whose values can't be keys; name a column of numbers, strings, bytes, "
                         "booleans, dates or times");
  }
  return KeyColumn{
      .name = name, .root = dataset::RootOf(*side.schema, name), .type = field->type()};
}

void AppendNumber(uint64_t number, std::string* key) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  key->append(bytes, sizeof(number));
}

void AppendText(std::string_view text, std::string* key) {
  AppendNumber(text.size(), key);
  key->append(text);
}

/// Appends each row's value by `append(row, key)`, which gives false for one that equals nothing.
template <typename Append>
void AppendEach(const arrow::Array& array, const Append& append, KeyBytes* out) {
  for (int64_t row = 0; row < array.length(); ++row) {
    if (!out->is_key[row]) continue;
    out->is_key[row] = array.IsValid(row) && append(row, &out->keys[row]);
  }
}

template <typename ArrayType>
void AppendIntegers(const arrow::Array& array, KeyBytes* out) {
  const auto& values = static_cast<const ArrayType&>(array);
  AppendEach(
      array,
      [&](int64_t row, std::string* key) {
        const auto value = values.Value(row);
        // Apart from the sign, so that a large unsigned number isn't a negative one.
        key->push_back(value < decltype(value){0} ? '-' : '+');
        AppendNumber(static_cast<uint64_t>(value), key);
        return true;
      },
      out);
}

template <typename Value>
void AppendFloats(const arrow::Array& array, const Value& value, KeyBytes* out) {
  AppendEach(
      array,
      [&](int64_t row, std::string* key) {
        const double number = value(row) + 0.0;  // -0 becomes 0
        if (std::isnan(number)) return false;
        uint64_t bits = 0;
        std::memcpy(&bits, &number, sizeof(bits));
        AppendNumber(bits, key);
        return true;
      },
      out);
}

template <typename ArrayType>
void AppendTexts(const arrow::Array& array, KeyBytes* out) {
  const auto& values = static_cast<const ArrayType&>(array);
  AppendEach(
      array,
      [&](int64_t row, std::string* key) {
        AppendText(values.GetView(row), key);
        return true;
      },
      out);
}

/// Appends counts of units of which `units` make a second (or, of days, a day) as whole ones and
/// the rest in nanoseconds.
template <typename ArrayType>
void AppendTimes(const arrow::Array& array, int64_t units, KeyBytes* out) {
  const auto& values = static_cast<const ArrayType&>(array);
  AppendEach(
      array,
      [&](int64_t row, std::string* key) {
        const auto value = static_cast<int64_t>(values.Value(row));
        const int64_t rest = ((value % units) + units) % units;
        AppendNumber(static_cast<uint64_t>((value - rest) / units), key);
        AppendNumber(static_cast<uint64_t>(rest * (1000000000 / units)), key);
        return true;
      },
      out);
}

int64_t UnitsOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1000;
    case arrow::TimeUnit::MICRO:
      return 1000000;
    default:
      return 1000000000;
  }
}

/// Without the zeros at its end, so that the scale doesn't matter.
arrow::Status AppendDecimals(const arrow::Array& array, KeyBytes* out) {
  const auto& type = static_cast<const arrow::DecimalType&>(*array.type());
  ARROW_ASSIGN_OR_RAISE(
      const auto wide,
      arrow::compute::Cast(array,
                           arrow::decimal256(arrow::Decimal256Type::kMaxPrecision, type.scale())));
  const auto& values = static_cast<const arrow::Decimal256Array&>(*wide);
  AppendEach(
      *wide,
      [&](int64_t row, std::string* key) {
        arrow::Decimal256 value(values.GetValue(row));
        int32_t scale = type.scale();
        const arrow::Decimal256 ten(10);
        while (value != 0 && value % ten == 0) {
          value /= ten;
          --scale;
        }
        if (value == 0) scale = 0;
        AppendNumber(static_cast<uint64_t>(int64_t{scale}), key);
        const auto bytes = value.ToBytes();
        key->append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return true;
      },
      out);
  return arrow::Status::OK();
}

template <typename Type>
int64_t UnitsOf(const arrow::Array& array) {
  return UnitsOf(static_cast<const Type&>(*array.type()).unit());
}

arrow::Status AppendTemporal(const arrow::Array& array, KeyBytes* out) {
  constexpr int64_t kMillisecondsOfADay = 86400000;
  switch (array.type_id()) {
    case arrow::Type::DATE32:
      AppendIntegers<arrow::Date32Array>(array, out);
      return arrow::Status::OK();
    case arrow::Type::DATE64: {
      const auto& values = static_cast<const arrow::Date64Array&>(array);
      AppendEach(
          array,
          [&](int64_t row, std::string* key) {
            const int64_t value = values.Value(row);
            const int64_t day = value / kMillisecondsOfADay - (value % kMillisecondsOfADay < 0);
            key->push_back(day < 0 ? '-' : '+');
            AppendNumber(static_cast<uint64_t>(day), key);
            return true;
          },
          out);
      return arrow::Status::OK();
    }
    case arrow::Type::TIME32:
      AppendTimes<arrow::Time32Array>(array, UnitsOf<arrow::Time32Type>(array), out);
      return arrow::Status::OK();
    case arrow::Type::TIME64:
      AppendTimes<arrow::Time64Array>(array, UnitsOf<arrow::Time64Type>(array), out);
      return arrow::Status::OK();
    case arrow::Type::DURATION:
      AppendTimes<arrow::DurationArray>(array, UnitsOf<arrow::DurationType>(array), out);
      return arrow::Status::OK();
    default:
      AppendTimes<arrow::TimestampArray>(array, UnitsOf<arrow::TimestampType>(array), out);
      return arrow::Status::OK();
  }
}

arrow::Status AppendIntegerColumn(const arrow::Array& array, KeyBytes* out) {
  switch (array.type_id()) {
    case arrow::Type::INT8:
      AppendIntegers<arrow::Int8Array>(array, out);
      break;
    case arrow::Type::INT16:
      AppendIntegers<arrow::Int16Array>(array, out);
      break;
    case arrow::Type::INT32:
      AppendIntegers<arrow::Int32Array>(array, out);
      break;
    case arrow::Type::INT64:
      AppendIntegers<arrow::Int64Array>(array, out);
      break;
    case arrow::Type::UINT8:
      AppendIntegers<arrow::UInt8Array>(array, out);
      break;
    case arrow::Type::UINT16:
      AppendIntegers<arrow::UInt16Array>(array, out);
      break;
    case arrow::Type::UINT32:
      AppendIntegers<arrow::UInt32Array>(array, out);
      break;
    default:
      AppendIntegers<arrow::UInt64Array>(array, out);
      break;
  }
  return arrow::Status::OK();
}

arrow::Status AppendTextColumn(const arrow::Array& array, KeyBytes* out) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      AppendTexts<arrow::BinaryArray>(array, out);
      break;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      AppendTexts<arrow::LargeBinaryArray>(array, out);
      break;
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      AppendTexts<arrow::BinaryViewArray>(array, out);
      break;
    default:
      AppendTexts<arrow::FixedSizeBinaryArray>(array, out);
      break;
  }
  return arrow::Status::OK();
}

arrow::Status AppendColumn(const arrow::Array& array, KeyBytes* out) {
  const arrow::Type::type id = array.type_id();
  if (id == arrow::Type::DICTIONARY) {
    const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
    ARROW_ASSIGN_OR_RAISE(const auto values,
                          arrow::compute::Take(*coded.dictionary(), *coded.indices()));
    return AppendColumn(*values, out);
  }
  if (arrow::is_integer(id)) return AppendIntegerColumn(array, out);
  if (arrow::is_decimal(id)) return AppendDecimals(array, out);
  if (arrow::is_temporal(id) || id == arrow::Type::DURATION) return AppendTemporal(array, out);
  switch (id) {
    case arrow::Type::BOOL: {
      const auto& values = static_cast<const arrow::BooleanArray&>(array);
      AppendEach(
          array,
          [&](int64_t row, std::string* key) {
            key->push_back(values.Value(row) ? 't' : 'f');
            return true;
          },
          out);
      return arrow::Status::OK();
    }
    case arrow::Type::HALF_FLOAT: {
      const auto& values = static_cast<const arrow::HalfFloatArray&>(array);
      AppendFloats(
          array,
          [&](int64_t row) { return arrow::util::Float16::FromBits(values.Value(row)).ToDouble(); },
          out);
      return arrow::Status::OK();
    }
    case arrow::Type::FLOAT: {
      const auto& values = static_cast<const arrow::FloatArray&>(array);
      AppendFloats(array, [&](int64_t row) { return double{values.Value(row)}; }, out);
      return arrow::Status::OK();
    }
    case arrow::Type::DOUBLE: {
      const auto& values = static_cast<const arrow::DoubleArray&>(array);
      AppendFloats(array, [&](int64_t row) { return values.Value(row); }, out);
      return arrow::Status::OK();
    }
    default:
      return AppendTextColumn(array, out);
  }
}

}  // namespace

arrow::Result<KeyColumns> ResolveKeys(const char* option, const std::vector<std::string>& names,
                                      const Side& left, const Side& right) {
  KeyColumns keys;
  for (const std::string& name : names) {
    const size_t colon = name.find(':');
    const std::string left_name = name.substr(0, colon);
    const std::string right_name = colon == std::string::npos ? name : name.substr(colon + 1);
    ARROW_ASSIGN_OR_RAISE(auto left_key, FindKey(option, left_name, left));
    ARROW_ASSIGN_OR_RAISE(auto right_key, FindKey(option, right_name, right));
    const std::string left_kind = KindOf(*left_key.type);
    const std::string right_kind = KindOf(*right_key.type);
    if (left_kind != right_kind) {
      return base::Invalid(option, ": left column \"", left_name, "\" is ", left_kind, " (",
                           left_key.type->ToString(), "), but right column \"", right_name,
                           "\" is ", right_kind, " (", right_key.type->ToString(),
                           "); keys are compared within one kind, so cast one of them");
    }
    keys.left.push_back(std::move(left_key));
    keys.right.push_back(std::move(right_key));
  }
  return keys;
}

arrow::Result<KeyBytes> ReadKeys(const arrow::RecordBatch& batch,
                                 const std::vector<KeyColumn>& columns) {
  KeyBytes out;
  out.keys.resize(static_cast<size_t>(batch.num_rows()));
  out.is_key.assign(static_cast<size_t>(batch.num_rows()), true);
  for (const KeyColumn& column : columns) {
    ARROW_ASSIGN_OR_RAISE(const auto array, dataset::ColumnAt(batch, column.name));
    ARROW_RETURN_NOT_OK(AppendColumn(*array, &out));
  }
  return out;
}

int64_t KeySize(const std::vector<KeyColumn>& columns) {
  int64_t bytes = 0;
  for (const KeyColumn& column : columns) bytes += 9 + ValueBytes(*column.type);
  return bytes;
}

}  // namespace kinjo::join
