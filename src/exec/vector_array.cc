#include "exec/vector_array.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "arrow/util/float16.h"

namespace kinjo::exec {

namespace {

/// Where the elements of each row lie in the values array.
struct RowSpan {
  int64_t offset;
  int64_t length;
};

RowSpan SpanOf(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListArray&>(array);
      return {list.value_offset(row), list.value_length(row)};
    }
    case arrow::Type::LIST: {
      const auto& list = static_cast<const arrow::ListArray&>(array);
      return {list.value_offset(row), list.value_length(row)};
    }
    default: {
      const auto& list = static_cast<const arrow::LargeListArray&>(array);
      return {list.value_offset(row), list.value_length(row)};
    }
  }
}

const std::shared_ptr<arrow::Array>& ValuesOf(const arrow::Array& array) {
  switch (array.type_id()) {
    case arrow::Type::FIXED_SIZE_LIST:
      return static_cast<const arrow::FixedSizeListArray&>(array).values();
    case arrow::Type::LIST:
      return static_cast<const arrow::ListArray&>(array).values();
    default:
      return static_cast<const arrow::LargeListArray&>(array).values();
  }
}

float HalfToFloat(uint16_t bits) { return arrow::util::Float16::FromBits(bits).ToFloat(); }

// Each appends the elements: what is made with its value isn't written twice.
template <typename Source, typename T>
void ConvertRow(const uint8_t* values, int64_t offset, int64_t width, std::vector<T>* out) {
  const auto* source = reinterpret_cast<const Source*>(values) + offset;
  out->insert(out->end(), source, source + width);
}

template <typename T>
void ConvertHalfRow(const uint8_t* values, int64_t offset, int64_t width, std::vector<T>* out) {
  const auto* source = reinterpret_cast<const uint16_t*>(values) + offset;
  for (int64_t j = 0; j < width; ++j) out->push_back(static_cast<T>(HalfToFloat(source[j])));
}

template <typename T>
using Convert = void (*)(const uint8_t*, int64_t, int64_t, std::vector<T>*);

template <typename T>
Convert<T> ConverterOf(arrow::Type::type element) {
  switch (element) {
    case arrow::Type::HALF_FLOAT:
      return ConvertHalfRow<T>;
    case arrow::Type::FLOAT:
      return ConvertRow<float, T>;
    case arrow::Type::DOUBLE:
      return ConvertRow<double, T>;
    case arrow::Type::INT8:
      return ConvertRow<int8_t, T>;
    case arrow::Type::UINT8:
      return ConvertRow<uint8_t, T>;
    case arrow::Type::INT16:
      return ConvertRow<int16_t, T>;
    case arrow::Type::UINT16:
      return ConvertRow<uint16_t, T>;
    case arrow::Type::INT32:
      return ConvertRow<int32_t, T>;
    case arrow::Type::UINT32:
      return ConvertRow<uint32_t, T>;
    case arrow::Type::INT64:
      return ConvertRow<int64_t, T>;
    case arrow::Type::UINT64:
      return ConvertRow<uint64_t, T>;
    default:
      return nullptr;
  }
}

template <typename T>
constexpr arrow::Type::type ElementOf() {
  if (std::is_same_v<T, float>) return arrow::Type::FLOAT;
  if (std::is_same_v<T, double>) return arrow::Type::DOUBLE;
  return arrow::Type::UINT8;
}

template <typename T>
bool AllFinite(const T* row, int64_t width) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const Bits exponent = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    Bits bad = 0;
    for (int64_t j = 0; j < width; ++j) {
      bad |= static_cast<Bits>((std::bit_cast<Bits>(row[j]) & exponent) == exponent);
    }
    return bad == 0;
  }
  return true;
}

bool HasNullElement(const arrow::Array& values, RowSpan span) {
  for (int64_t j = 0; j < span.length; ++j) {
    if (values.IsNull(span.offset + j)) return true;
  }
  return false;
}

/// Whether double holds the integer exactly: at most 53 digits between its first and its last one.
template <typename Integer>
bool DoubleHolds(Integer value) {
  auto size = static_cast<uint64_t>(value);
  if (std::is_signed_v<Integer> && value < 0) size = 0 - size;
  return size == 0 || size >> std::countr_zero(size) <= uint64_t{1} << 53;
}

template <typename Integer>
arrow::Status CheckIntegers(const arrow::Array& array, const VectorRead& read,
                            const std::vector<VectorState>& states, const uint8_t* values) {
  const auto* integers = reinterpret_cast<const Integer*>(values);
  for (int64_t i = 0; i < array.length(); ++i) {
    if (states[i] != VectorState::kValid) continue;
    const RowSpan span = SpanOf(array, i);
    for (int64_t j = span.offset; j < span.offset + span.length; ++j) {
      if (DoubleHolds(integers[j])) continue;
      return base::Invalid(read.what, ": row ", read.first_row + i, " has the element ",
                           integers[j],
                           ", which is above 2^53 and not exact in float64, the widest type that "
                           "vectors are compared in; scale or cast the column");
    }
  }
  return arrow::Status::OK();
}

/// Checks the elements that would lose digits. Narrower integers than 64 bits never do.
arrow::Status CheckExact(arrow::Type::type element, const arrow::Array& array,
                         const VectorRead& read, const std::vector<VectorState>& states,
                         const uint8_t* values) {
  if (values == nullptr) return arrow::Status::OK();
  if (element == arrow::Type::INT64) return CheckIntegers<int64_t>(array, read, states, values);
  if (element == arrow::Type::UINT64) return CheckIntegers<uint64_t>(array, read, states, values);
  return arrow::Status::OK();
}

/// Sets the states and the width; checks every row's width.
template <typename T>
arrow::Status MarkRows(const arrow::Array& array, const VectorRead& read, VectorRows<T>* out) {
  const arrow::Array& values = *ValuesOf(array);
  const bool element_nulls = values.null_count() > 0;
  std::string expected = read.expected;
  for (int64_t i = 0; i < out->num_rows; ++i) {
    if (array.IsNull(i)) {
      out->states[i] = VectorState::kNull;
      continue;
    }
    const RowSpan span = SpanOf(array, i);
    if (span.length == 0) {
      out->states[i] = VectorState::kNull;  // no direction and no neighbours
      continue;
    }
    if (out->width < 0) {
      out->width = span.length;
      expected = base::Concat("row ", read.first_row + i);
    }
    if (span.length != out->width) {
      return base::Invalid(read.what, ": row ", read.first_row + i, " has ", span.length,
                           " elements, but ", expected.empty() ? "the column" : expected, " has ",
                           out->width);
    }
    if (element_nulls && HasNullElement(values, span)) out->states[i] = VectorState::kNull;
  }
  return arrow::Status::OK();
}

}  // namespace

bool VectorType::widens_to_float() const {
  switch (element) {
    case arrow::Type::HALF_FLOAT:
    case arrow::Type::FLOAT:
    case arrow::Type::INT8:
    case arrow::Type::UINT8:
    case arrow::Type::INT16:
    case arrow::Type::UINT16:
      return true;
    default:
      return false;
  }
}

int64_t ListLength(const arrow::Array& array, int64_t row) {
  return array.IsNull(row) ? 0 : SpanOf(array, row).length;
}

std::optional<VectorType> VectorTypeOf(const arrow::DataType& type) {
  VectorType found{};
  switch (type.id()) {
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
      found.width = list.list_size();
      found.element = list.value_type()->id();
      break;
    }
    case arrow::Type::LIST:
      found.element = static_cast<const arrow::ListType&>(type).value_type()->id();
      break;
    case arrow::Type::LARGE_LIST:
      found.element = static_cast<const arrow::LargeListType&>(type).value_type()->id();
      break;
    default:
      return std::nullopt;
  }
  if (ConverterOf<double>(found.element) == nullptr) return std::nullopt;
  return found;
}

template <typename T>
arrow::Result<VectorRows<T>> ReadVectors(const std::shared_ptr<arrow::Array>& array,
                                         const VectorRead& read) {
  const std::optional<VectorType> type = VectorTypeOf(*array->type());
  if (!type.has_value()) return base::Internal(read.what, " is not a vector column");
  VectorRows<T> out;
  out.num_rows = array->length();
  out.width = read.width >= 0 ? read.width : type->width.value_or(-1);
  out.states.assign(static_cast<size_t>(out.num_rows), VectorState::kValid);
  ARROW_RETURN_NOT_OK(MarkRows(*array, read, &out));
  if (out.width <= 0) {
    // An empty vector has no direction and no neighbours.
    out.states.assign(static_cast<size_t>(out.num_rows), VectorState::kNull);
    return out;
  }
  const std::shared_ptr<arrow::Array>& values = ValuesOf(*array);
  const arrow::ArrayData& data = *values->data();
  const int byte_width = values->type()->byte_width();
  const uint8_t* bytes = data.buffers[1] == nullptr ? nullptr : data.buffers[1]->data();
  ARROW_RETURN_NOT_OK(CheckExact(type->element, *array, read, out.states,
                                 bytes == nullptr ? nullptr : bytes + data.offset * byte_width));
  const bool in_place =
      array->type_id() == arrow::Type::FIXED_SIZE_LIST && type->element == ElementOf<T>();
  if (in_place && bytes != nullptr) {
    const RowSpan first = out.num_rows > 0 ? SpanOf(*array, 0) : RowSpan{0, 0};
    out.base = reinterpret_cast<const T*>(bytes + (data.offset + first.offset) * byte_width);
    out.keep = array;
  } else {
    out.own.reserve(static_cast<size_t>(out.num_rows * out.width));
    const Convert<T> convert = ConverterOf<T>(type->element);
    for (int64_t i = 0; i < out.num_rows; ++i) {
      if (out.states[i] == VectorState::kValid && bytes != nullptr) {
        convert(bytes + data.offset * byte_width, SpanOf(*array, i).offset, out.width, &out.own);
      } else {
        out.own.resize(out.own.size() + static_cast<size_t>(out.width));
      }
    }
    out.base = out.own.data();
  }
  for (int64_t i = 0; i < out.num_rows; ++i) {
    if (out.states[i] == VectorState::kValid && !AllFinite(out.row(i), out.width)) {
      out.states[i] = VectorState::kNonFinite;
    }
  }
  return out;
}

template arrow::Result<VectorRows<float>> ReadVectors(const std::shared_ptr<arrow::Array>&,
                                                      const VectorRead&);
template arrow::Result<VectorRows<double>> ReadVectors(const std::shared_ptr<arrow::Array>&,
                                                       const VectorRead&);
template arrow::Result<VectorRows<uint8_t>> ReadVectors(const std::shared_ptr<arrow::Array>&,
                                                        const VectorRead&);

}  // namespace kinjo::exec
