#include "tabular/value_text.h"

#include <string>

#include "arrow/array.h"
#include "arrow/json/from_string.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tabular/temporal_text.h"

namespace kinjo::tabular {
namespace {

// Every value of a column as JSON, then as plain text, each on its own line.
std::string Texts(const std::shared_ptr<arrow::Array>& array, const TextStyle& style = {}) {
  const auto text = MakeValueText(*array->type(), style, "c").ValueOrDie();
  std::string out;
  for (int64_t i = 0; i < array->length(); ++i) {
    text->AppendJson(*array, i, &out);
    out += '\n';
  }
  return out;
}

std::string Plain(const std::shared_ptr<arrow::Array>& array, const TextStyle& style = {}) {
  const auto text = MakeValueText(*array->type(), style, "c").ValueOrDie();
  std::string out;
  for (int64_t i = 0; i < array->length(); ++i) {
    if (!array->IsNull(i)) text->AppendPlain(*array, i, &out);
    out += '\n';
  }
  return out;
}

std::shared_ptr<arrow::Array> From(const std::shared_ptr<arrow::DataType>& type,
                                   const std::string& json) {
  return arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
}

TEST(ValueText, Numbers) {
  EXPECT_EQ(Texts(From(arrow::int8(), "[-128, null]")), "-128\nnull\n");
  EXPECT_EQ(Texts(From(arrow::uint64(), "[18446744073709551615]")), "18446744073709551615\n");
  EXPECT_EQ(Texts(From(arrow::int64(), "[-9223372036854775808]")), "-9223372036854775808\n");
  EXPECT_EQ(Texts(From(arrow::boolean(), "[true, false]")), "true\nfalse\n");
  EXPECT_EQ(Texts(From(arrow::float32(), "[0.1, 16777216, NaN, Inf]")),
            "0.1\n16777216\nnull\nnull\n");
  EXPECT_EQ(Texts(From(arrow::float64(), "[0.1, 1e300, -0.0]")), "0.1\n1e+300\n-0\n");
  EXPECT_EQ(Texts(From(arrow::float16(), "[0.5, -2]")), "0.5\n-2\n");
  EXPECT_EQ(Texts(From(arrow::decimal128(10, 3), R"(["1.500", "-0.001"])")), "1.500\n-0.001\n");
  EXPECT_EQ(Texts(From(arrow::null(), "[null]")), "null\n");
  EXPECT_EQ(Plain(From(arrow::float64(), "[NaN, Inf, -Inf]"), {.non_finite_is_null = false}),
            "nan\ninf\n-inf\n");
  EXPECT_EQ(Plain(From(arrow::float32(), "[0.123456789, 12345678]"), {.significant_digits = 6}),
            "0.123457\n1.23457e+07\n");
}

TEST(ValueText, TextAndBinary) {
  EXPECT_EQ(Texts(From(arrow::utf8(), R"(["a\"b\\c\n\u0001", null, ""])")),
            "\"a\\\"b\\\\c\\n\\u0001\"\nnull\n\"\"\n");
  EXPECT_EQ(Plain(From(arrow::large_utf8(), R"(["a\"b"])")), "a\"b\n");
  EXPECT_EQ(Texts(From(arrow::utf8_view(), R"(["近所"])")), "\"近所\"\n");
  EXPECT_EQ(Texts(From(arrow::binary(), R"(["abc", ""])")), "\"YWJj\"\n\"\"\n");
  EXPECT_EQ(Plain(From(arrow::fixed_size_binary(3), R"(["abc"])")), "YWJj\n");
  std::string json;
  AppendJsonString("ok \xFF\xC3\xA9\xE8\xBF z", &json);
  EXPECT_EQ(json, "\"ok \xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD z\"");
}

TEST(ValueText, DatesAndTimes) {
  EXPECT_EQ(Texts(From(arrow::date32(), "[0, 19782, -1, -719162]")),
            "\"1970-01-01\"\n\"2024-02-29\"\n\"1969-12-31\"\n\"0001-01-01\"\n");
  EXPECT_EQ(Plain(From(arrow::date64(), "[86400000, -86400000]")), "1970-01-02\n1969-12-31\n");
  EXPECT_EQ(Plain(From(arrow::time32(arrow::TimeUnit::SECOND), "[86399]")), "23:59:59\n");
  EXPECT_EQ(Plain(From(arrow::time64(arrow::TimeUnit::NANO), "[1]")), "00:00:00.000000001\n");
  EXPECT_EQ(Plain(From(arrow::timestamp(arrow::TimeUnit::MILLI), "[-1]")),
            "1969-12-31T23:59:59.999\n");
  EXPECT_EQ(Texts(From(arrow::timestamp(arrow::TimeUnit::SECOND, "Asia/Tokyo"), "[951782400]")),
            "\"2000-02-29T00:00:00Z\"\n");
  EXPECT_EQ(Texts(From(arrow::duration(arrow::TimeUnit::MILLI), "[1500]")), "1500\n");
}

TEST(ValueText, DatesOfEveryDayOfFourCenturies) {
  // Counts the days itself, one by one.
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  int64_t since_1970 = -135140;  // 1600-01-01
  for (int year = 1600; year < 2000; ++year) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= kDays[month - 1] + (leap && month == 2 ? 1 : 0); ++day) {
        char expected[32];
        snprintf(expected, sizeof(expected), "%04d-%02d-%02d", year, month, day);
        std::string text;
        AppendDate(since_1970++, &text);
        ASSERT_EQ(text, expected);
      }
    }
  }
  EXPECT_EQ(since_1970, 10957);  // 2000-01-01
  std::string far;
  AppendDate(2932897, &far);
  AppendDate(-719529, &far);
  EXPECT_EQ(far, "+10000-01-01-0001-12-31");
}

TEST(ValueText, NestedValues) {
  const auto list = arrow::list(arrow::float32());
  EXPECT_EQ(Texts(From(list, "[[0.5, null, NaN], [], null]")), "[0.5,null,null]\n[]\nnull\n");
  EXPECT_EQ(
      Plain(From(arrow::fixed_size_list(arrow::int32(), 2), "[[1, 2], null]"), {.separator = ", "}),
      "[1, 2]\n\n");
  EXPECT_EQ(Texts(From(arrow::large_list(list), "[[[1], [2, 3]]]")), "[[1],[2,3]]\n");
  const auto record = arrow::struct_(
      {arrow::field("a\"", arrow::int8()), arrow::field("b", arrow::list(arrow::utf8()))});
  EXPECT_EQ(Texts(From(record, R"([[1, ["x"]], null, [null, null]])")),
            "{\"a\\\"\":1,\"b\":[\"x\"]}\nnull\n{\"a\\\"\":null,\"b\":null}\n");
  EXPECT_EQ(Texts(From(arrow::map(arrow::utf8(), arrow::int8()), R"([[["k", 1]], []])")),
            "[{\"key\":\"k\",\"value\":1}]\n[]\n");
  EXPECT_EQ(Texts(From(arrow::dictionary(arrow::int8(), arrow::utf8()), R"(["x", null, "y"])")),
            "\"x\"\nnull\n\"y\"\n");
}

TEST(ValueText, SlicesShowTheirOwnRows) {
  const auto record = arrow::struct_({arrow::field("a", arrow::list(arrow::int8()))});
  const auto rows = From(record, "[[[1]], [[2, 3]], [[4]]]")->Slice(1, 1);
  EXPECT_EQ(Texts(rows), "{\"a\":[2,3]}\n");
  EXPECT_EQ(Texts(From(arrow::fixed_size_list(arrow::int8(), 2), "[[1,2],[3,4]]")->Slice(1)),
            "[3,4]\n");
}

TEST(ValueText, LongListsAreElidedOnRequest) {
  const TextStyle style{.significant_digits = 3, .separator = ", ", .max_list_items = 2};
  EXPECT_EQ(
      Plain(From(arrow::list(arrow::float32()), "[[0.123456, -0.3, 5, 6], [1, 2], []]"), style),
      "[0.123, -0.3, … 4]\n[1, 2]\n[]\n");
}

TEST(ValueText, WhatHasNoTextIsRefusedByName) {
  const auto status = MakeValueText(*arrow::list(arrow::month_interval()), {}, "wait").status();
  EXPECT_EQ(base::CodeOf(status), base::ErrorCode::kNotSupported);
  EXPECT_THAT(status.message(), testing::HasSubstr("column wait"));
}

}  // namespace
}  // namespace kinjo::tabular
