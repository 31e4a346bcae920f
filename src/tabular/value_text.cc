#include "tabular/value_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrow/array.h"
#include "arrow/extension_type.h"
#include "arrow/util/base64.h"
#include "arrow/util/float16.h"
#include "arrow/util/utf8.h"
#include "tabular/temporal_text.h"

namespace kinjo::tabular {

namespace {

using arrow::Array;

// Enough for every double and int64 in to_chars' shortest form.
constexpr size_t kNumberBytes = 64;

template <typename Number>
void AppendNumber(Number value, std::string* out) {
  std::array<char, kNumberBytes> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  out->append(text.data(), end.ptr);
}

template <typename Float>
void AppendFloat(Float value, const TextStyle& style, std::string* out) {
  if (!std::isfinite(value)) {
    const char* word = std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    out->append(style.non_finite_is_null ? "null" : word);
  } else if (style.significant_digits > 0) {
    std::array<char, kNumberBytes> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                   std::chars_format::general, style.significant_digits);
    out->append(text.data(), end.ptr);
  } else {
    AppendNumber(value, out);
  }
}

// Arrow's check reads a table that must be made first; unmade, it lets everything pass.
bool IsUtf8(std::string_view text) {
  static const bool made = [] {
    arrow::util::InitializeUTF8();
    return true;
  }();
  return made && arrow::util::ValidateUTF8(text);
}

// Length of the UTF-8 character at the start of `text`, or 0 when it isn't one.
size_t CharacterBytes(std::string_view text) {
  for (size_t length = 1; length <= 4 && length <= text.size(); ++length) {
    if (IsUtf8(text.substr(0, length))) return length;
  }
  return 0;
}

template <typename ArrayType>
class IntText final : public ValueText {
  void Json(const Array& array, int64_t row, std::string* out) const override {
    AppendNumber(static_cast<const ArrayType&>(array).Value(row), out);
  }
};

template <typename ArrayType>
class FloatText final : public ValueText {
 public:
  explicit FloatText(TextStyle style) : style_(std::move(style)) {}

 private:
  void Json(const Array& array, int64_t row, std::string* out) const override {
    const auto value = static_cast<const ArrayType&>(array).Value(row);
    if constexpr (std::is_same_v<ArrayType, arrow::HalfFloatArray>) {
      AppendFloat(arrow::util::Float16::FromBits(value).ToFloat(), style_, out);
    } else {
      AppendFloat(value, style_, out);
    }
  }
  TextStyle style_;
};

class NullText final : public ValueText {
  void Json(const Array&, int64_t, std::string* out) const override { out->append("null"); }
};

class BoolText final : public ValueText {
  void Json(const Array& array, int64_t row, std::string* out) const override {
    out->append(static_cast<const arrow::BooleanArray&>(array).Value(row) ? "true" : "false");
  }
};

template <typename ArrayType>
class DecimalText final : public ValueText {
  void Json(const Array& array, int64_t row, std::string* out) const override {
    out->append(static_cast<const ArrayType&>(array).FormatValue(row));
  }
};

template <typename ArrayType>
class StringText final : public ValueText {
 public:
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    out->append(static_cast<const ArrayType&>(array).GetView(row));
  }

 private:
  void Json(const Array& array, int64_t row, std::string* out) const override {
    AppendJsonString(static_cast<const ArrayType&>(array).GetView(row), out);
  }
};

// Text that needs no escapes: quotes around it make it JSON.
class QuotedText : public ValueText {
  void Json(const Array& array, int64_t row, std::string* out) const override {
    out->push_back('"');
    AppendPlain(array, row, out);
    out->push_back('"');
  }
};

template <typename ArrayType>
class BinaryText final : public QuotedText {
 public:
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    out->append(arrow::util::base64_encode(static_cast<const ArrayType&>(array).GetView(row)));
  }
};

class DateText final : public QuotedText {
 public:
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    constexpr int64_t kMillisecondsPerDay = 86400000;
    if (array.type_id() == arrow::Type::DATE32) {
      AppendDate(static_cast<const arrow::Date32Array&>(array).Value(row), out);
      return;
    }
    const int64_t value = static_cast<const arrow::Date64Array&>(array).Value(row);
    const int64_t rounded = value < 0 ? value - (kMillisecondsPerDay - 1) : value;
    AppendDate(rounded / kMillisecondsPerDay, out);
  }
};

class TimeText final : public QuotedText {
 public:
  explicit TimeText(arrow::TimeUnit::type unit) : unit_(unit) {}
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    const int64_t value = array.type_id() == arrow::Type::TIME32
                              ? static_cast<const arrow::Time32Array&>(array).Value(row)
                              : static_cast<const arrow::Time64Array&>(array).Value(row);
    AppendTimeOfDay(value, unit_, out);
  }

 private:
  arrow::TimeUnit::type unit_;
};

class TimestampText final : public QuotedText {
 public:
  explicit TimestampText(const arrow::TimestampType& type)
      : unit_(type.unit()), utc_(!type.timezone().empty()) {}
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    AppendTimestamp(static_cast<const arrow::TimestampArray&>(array).Value(row), unit_, utc_, out);
  }

 private:
  arrow::TimeUnit::type unit_;
  bool utc_;
};

template <typename ArrayType>
class ListText final : public ValueText {
 public:
  ListText(std::unique_ptr<ValueText> item, TextStyle style)
      : item_(std::move(item)), style_(std::move(style)) {}

 private:
  void Json(const Array& array, int64_t row, std::string* out) const override {
    const auto& lists = static_cast<const ArrayType&>(array);
    const int64_t begin = lists.value_offset(row);
    const int64_t length = lists.value_length(row);
    const bool elided = style_.max_list_items >= 0 && length > style_.max_list_items;
    const int64_t shown = elided ? style_.max_list_items : length;
    out->push_back('[');
    for (int64_t i = 0; i < shown; ++i) {
      if (i > 0) out->append(style_.separator);
      item_->AppendJson(*lists.values(), begin + i, out);
    }
    if (elided) {
      if (shown > 0) out->append(style_.separator);
      out->append("… ");
      AppendNumber(length, out);
    }
    out->push_back(']');
  }
  std::unique_ptr<ValueText> item_;
  TextStyle style_;
};

class StructText final : public ValueText {
 public:
  StructText(std::vector<std::string> names, std::vector<std::unique_ptr<ValueText>> fields,
             std::string separator)
      : names_(std::move(names)), fields_(std::move(fields)), separator_(std::move(separator)) {}

 private:
  void Json(const Array& array, int64_t row, std::string* out) const override {
    const auto& structs = static_cast<const arrow::StructArray&>(array);
    out->push_back('{');
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (i > 0) out->append(separator_);
      AppendJsonString(names_[i], out);
      out->push_back(':');
      fields_[i]->AppendJson(*structs.field(static_cast<int>(i)), row, out);
    }
    out->push_back('}');
  }
  std::vector<std::string> names_;
  std::vector<std::unique_ptr<ValueText>> fields_;
  std::string separator_;
};

class DictionaryText final : public ValueText {
 public:
  explicit DictionaryText(std::unique_ptr<ValueText> value) : value_(std::move(value)) {}
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
    const int64_t entry = coded.GetValueIndex(row);
    if (coded.dictionary()->IsNull(entry)) return;
    value_->AppendPlain(*coded.dictionary(), entry, out);
  }

 private:
  void Json(const Array& array, int64_t row, std::string* out) const override {
    const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
    value_->AppendJson(*coded.dictionary(), coded.GetValueIndex(row), out);
  }
  std::unique_ptr<ValueText> value_;
};

class ExtensionText final : public ValueText {
 public:
  explicit ExtensionText(std::unique_ptr<ValueText> storage) : storage_(std::move(storage)) {}
  void AppendPlain(const Array& array, int64_t row, std::string* out) const override {
    storage_->AppendPlain(*static_cast<const arrow::ExtensionArray&>(array).storage(), row, out);
  }

 private:
  void Json(const Array& array, int64_t row, std::string* out) const override {
    storage_->AppendJson(*static_cast<const arrow::ExtensionArray&>(array).storage(), row, out);
  }
  std::unique_ptr<ValueText> storage_;
};

using Made = arrow::Result<std::unique_ptr<ValueText>>;

template <typename ArrayType>
Made MakeList(const arrow::DataType& type, const TextStyle& style, const std::string& column) {
  ARROW_ASSIGN_OR_RAISE(auto item, MakeValueText(*type.field(0)->type(), style, column));
  return std::make_unique<ListText<ArrayType>>(std::move(item), style);
}

Made MakeStruct(const arrow::DataType& type, const TextStyle& style, const std::string& column) {
  std::vector<std::string> names;
  std::vector<std::unique_ptr<ValueText>> fields;
  for (const auto& field : type.fields()) {
    ARROW_ASSIGN_OR_RAISE(
        auto text, MakeValueText(*field->type(), style, base::Concat(column, ".", field->name())));
    names.push_back(field->name());
    fields.push_back(std::move(text));
  }
  return std::make_unique<StructText>(std::move(names), std::move(fields), style.separator);
}

// Nested types and those that wrap another; null when `type` is none of them.
Made MakeNested(const arrow::DataType& type, const TextStyle& style, const std::string& column) {
  switch (type.id()) {
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return MakeList<arrow::ListArray>(type, style, column);
    case arrow::Type::LARGE_LIST:
      return MakeList<arrow::LargeListArray>(type, style, column);
    case arrow::Type::FIXED_SIZE_LIST:
      return MakeList<arrow::FixedSizeListArray>(type, style, column);
    case arrow::Type::LIST_VIEW:
      return MakeList<arrow::ListViewArray>(type, style, column);
    case arrow::Type::LARGE_LIST_VIEW:
      return MakeList<arrow::LargeListViewArray>(type, style, column);
    case arrow::Type::STRUCT:
      return MakeStruct(type, style, column);
    case arrow::Type::DICTIONARY: {
      const auto& coded = static_cast<const arrow::DictionaryType&>(type);
      ARROW_ASSIGN_OR_RAISE(auto value, MakeValueText(*coded.value_type(), style, column));
      return std::make_unique<DictionaryText>(std::move(value));
    }
    case arrow::Type::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionType&>(type);
      ARROW_ASSIGN_OR_RAISE(auto storage, MakeValueText(*extension.storage_type(), style, column));
      return std::make_unique<ExtensionText>(std::move(storage));
    }
    default:
      return nullptr;
  }
}

// Text, binary, dates and times; null when `type` is none of them.
std::unique_ptr<ValueText> MakeQuoted(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRING:
      return std::make_unique<StringText<arrow::StringArray>>();
    case arrow::Type::LARGE_STRING:
      return std::make_unique<StringText<arrow::LargeStringArray>>();
    case arrow::Type::STRING_VIEW:
      return std::make_unique<StringText<arrow::StringViewArray>>();
    case arrow::Type::BINARY:
      return std::make_unique<BinaryText<arrow::BinaryArray>>();
    case arrow::Type::LARGE_BINARY:
      return std::make_unique<BinaryText<arrow::LargeBinaryArray>>();
    case arrow::Type::BINARY_VIEW:
      return std::make_unique<BinaryText<arrow::BinaryViewArray>>();
    case arrow::Type::FIXED_SIZE_BINARY:
      return std::make_unique<BinaryText<arrow::FixedSizeBinaryArray>>();
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
      return std::make_unique<DateText>();
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
      return std::make_unique<TimeText>(static_cast<const arrow::TimeType&>(type).unit());
    case arrow::Type::TIMESTAMP:
      return std::make_unique<TimestampText>(static_cast<const arrow::TimestampType&>(type));
    default:
      return nullptr;
  }
}

std::unique_ptr<ValueText> MakeNumber(const arrow::DataType& type, const TextStyle& style) {
  switch (type.id()) {
    case arrow::Type::NA:
      return std::make_unique<NullText>();
    case arrow::Type::BOOL:
      return std::make_unique<BoolText>();
    case arrow::Type::INT8:
      return std::make_unique<IntText<arrow::Int8Array>>();
    case arrow::Type::INT16:
      return std::make_unique<IntText<arrow::Int16Array>>();
    case arrow::Type::INT32:
      return std::make_unique<IntText<arrow::Int32Array>>();
    case arrow::Type::INT64:
      return std::make_unique<IntText<arrow::Int64Array>>();
    case arrow::Type::UINT8:
      return std::make_unique<IntText<arrow::UInt8Array>>();
    case arrow::Type::UINT16:
      return std::make_unique<IntText<arrow::UInt16Array>>();
    case arrow::Type::UINT32:
      return std::make_unique<IntText<arrow::UInt32Array>>();
    case arrow::Type::UINT64:
      return std::make_unique<IntText<arrow::UInt64Array>>();
    case arrow::Type::DURATION:
      return std::make_unique<IntText<arrow::DurationArray>>();
    case arrow::Type::HALF_FLOAT:
      return std::make_unique<FloatText<arrow::HalfFloatArray>>(style);
    case arrow::Type::FLOAT:
      return std::make_unique<FloatText<arrow::FloatArray>>(style);
    case arrow::Type::DOUBLE:
      return std::make_unique<FloatText<arrow::DoubleArray>>(style);
    case arrow::Type::DECIMAL32:
      return std::make_unique<DecimalText<arrow::Decimal32Array>>();
    case arrow::Type::DECIMAL64:
      return std::make_unique<DecimalText<arrow::Decimal64Array>>();
    case arrow::Type::DECIMAL128:
      return std::make_unique<DecimalText<arrow::Decimal128Array>>();
    case arrow::Type::DECIMAL256:
      return std::make_unique<DecimalText<arrow::Decimal256Array>>();
    default:
      return nullptr;
  }
}

}  // namespace

arrow::Result<std::unique_ptr<ValueText>> MakeValueText(const arrow::DataType& type,
                                                        const TextStyle& style,
                                                        const std::string& column) {
  if (auto number = MakeNumber(type, style)) return number;
  if (auto quoted = MakeQuoted(type)) return quoted;
  ARROW_ASSIGN_OR_RAISE(auto nested, MakeNested(type, style, column));
  if (nested != nullptr) return nested;
  return base::NotSupported("column ", column, " of type ", type.ToString(),
                            " can't be written as text; use parquet or arrow");
}

void AppendJsonString(std::string_view text, std::string* out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const bool valid = IsUtf8(text);
  out->push_back('"');
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte == '"' || byte == '\\') {
      out->push_back('\\');
      out->push_back(text[i++]);
    } else if (byte == '\n' || byte == '\r' || byte == '\t') {
      out->append(byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t");
      ++i;
    } else if (byte < 0x20) {
      out->append("\\u00");
      out->push_back(kHex[byte >> 4]);
      out->push_back(kHex[byte & 15]);
      ++i;
    } else if (valid || byte < 0x80) {
      out->push_back(text[i++]);
    } else if (const size_t bytes = CharacterBytes(text.substr(i)); bytes > 0) {
      out->append(text.substr(i, bytes));
      i += bytes;
    } else {
      out->append("\xEF\xBF\xBD");
      ++i;
    }
  }
  out->push_back('"');
}

}  // namespace kinjo::tabular
