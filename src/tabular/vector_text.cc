#include "tabular/vector_text.h"

#include <charconv>
#include <cmath>

namespace kinjo::tabular {

namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

const char* SkipSpace(const char* at, const char* end) {
  while (at != end && IsSpace(*at)) ++at;
  return at;
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
      double wide = 0;
      const bool huge = std::from_chars(at, end, wide).ec != std::errc() || wide > 1 || wide < -1;
      value = huge ? (*at == '-' ? -HUGE_VALF : HUGE_VALF) : static_cast<float>(wide);
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
