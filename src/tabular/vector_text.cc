#include "tabular/vector_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace kinjo::tabular {

namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

const char* SkipSpace(const char* at, const char* end) {
  while (at != end && IsSpace(*at)) ++at;
  return at;
}

// Whether a number that no float holds is too large rather than too small. Its digits decide: the
// place of the first that isn't 0, moved by the exponent.
bool IsAboveOne(std::string_view number) {
  const size_t mark = number.find_first_of("eE");
  std::string_view exponent_text = mark == std::string_view::npos ? "" : number.substr(mark + 1);
  if (exponent_text.starts_with('+')) exponent_text.remove_prefix(1);
  int64_t exponent = 0;
  const auto parsed =
      std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  if (parsed.ec == std::errc::result_out_of_range) return exponent_text[0] != '-';
  const std::string_view digits = number.substr(0, mark);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(digits.find_first_of("123456789"));
  return exponent + point - first > 0;
}

}  // namespace

bool ParseVectorText(std::string_view text, arrow::FloatBuilder* out) {
  const char* at = SkipSpace(text.data(), text.data() + text.size());
  const char* end = text.data() + text.size();
  while (end != at && IsSpace(end[-1])) --end;
  if (end - at < 2 || *at != '[' || end[-1] != ']') return false;
  --end;
  at = SkipSpace(at + 1, end);
  while (at != end) {
    if (*at == '+') ++at;
    float value = 0;
    const auto parsed = std::from_chars(at, end, value);
    // Out of range is a number all the same: too small is 0, too large an infinity.
    if (parsed.ec == std::errc::result_out_of_range) {
      const float size = IsAboveOne(std::string_view(at, parsed.ptr)) ? HUGE_VALF : 0;
      value = *at == '-' ? -size : size;
    } else if (parsed.ec != std::errc()) {
      return false;
    }
    if (!out->Append(value).ok()) return false;
    const char* next = SkipSpace(parsed.ptr, end);
    if (next != end && *next == ',') {
      next = SkipSpace(next + 1, end);
      if (next == end) return false;  // a comma with nothing behind it
    } else if (next != end && next == parsed.ptr) {
      return false;  // no separator
    }
    at = next;
  }
  return true;
}

bool HoldsVectors(const arrow::StringArray& column) {
  arrow::FloatBuilder numbers;
  for (int64_t i = 0; i < column.length(); ++i) {
    if (column.IsNull(i)) continue;
    if (!ParseVectorText(column.GetView(i), &numbers)) return false;
    numbers.Reset();
  }
  return column.null_count() < column.length();
}

arrow::Result<std::shared_ptr<arrow::Array>> ParseVectors(const arrow::StringArray& column,
                                                          const std::string& name,
                                                          const std::string& uri,
                                                          int64_t first_row) {
  constexpr size_t kShownBytes = 60;
  auto numbers = std::make_shared<arrow::FloatBuilder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), numbers);
  ARROW_RETURN_NOT_OK(lists.Reserve(column.length()));
  for (int64_t i = 0; i < column.length(); ++i) {
    if (column.IsNull(i)) {
      ARROW_RETURN_NOT_OK(lists.AppendNull());
      continue;
    }
    ARROW_RETURN_NOT_OK(lists.Append());
    const std::string_view text = column.GetView(i);
    if (!ParseVectorText(text, numbers.get())) {
      return base::Invalid("row ", first_row + i, " of ", uri, ", column ", name, ": \"",
                           text.substr(0, kShownBytes), text.size() > kShownBytes ? "..." : "",
                           "\" is not a list of numbers like [0.1, 0.2]");
    }
  }
  return lists.Finish();
}

}  // namespace kinjo::tabular
