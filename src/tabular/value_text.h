// Values of any Arrow type as text: as JSON, and as what stands in a CSV cell or on a terminal.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "arrow/array/array_base.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::tabular {

struct TextStyle {
  /// What NaN and infinities become: JSON has no word for them.
  bool non_finite_is_null = true;
  /// 0 = as many digits as it takes to read the same number back.
  int significant_digits = 0;
  /// Between items of lists and objects.
  std::string separator = ",";
  /// Longer lists are elided: "[0.1, 0.2, … 50]" says that it has 50 items. -1 = never.
  int64_t max_list_items = -1;
};

/// Writes values of one type. Immutable; any thread.
class ValueText {
 public:
  virtual ~ValueText() = default;

  /// Appends the value as JSON; null is `null`.
  void AppendJson(const arrow::Array& array, int64_t row, std::string* out) const {
    if (array.IsNull(row)) {
      out->append("null");
    } else {
      Json(array, row, out);
    }
  }
  /// Appends a value that isn't null as bare text: strings, dates and the like without quotes and
  /// escapes, all else as JSON.
  virtual void AppendPlain(const arrow::Array& array, int64_t row, std::string* out) const {
    Json(array, row, out);
  }

 protected:
  /// The value isn't null.
  virtual void Json(const arrow::Array& array, int64_t row, std::string* out) const = 0;
};

/// Numbers are JSON numbers (also decimals, and durations in their unit); text is a string with
/// bytes that aren't UTF-8 replaced by U+FFFD; binary is base64; dates, times and timestamps are
/// ISO 8601 (timestamps with a zone in UTC, with a Z); structs are objects, maps lists of
/// {"key": ..., "value": ...}. Other types are `not_supported`, with `column` named.
arrow::Result<std::unique_ptr<ValueText>> MakeValueText(const arrow::DataType& type,
                                                        const TextStyle& style,
                                                        const std::string& column);

/// Appends `text` as a JSON string, quotes included.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace kinjo::tabular
