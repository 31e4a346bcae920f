// Every function: its answers, nulls, and arguments it doesn't take.
#include "predicate/functions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::FromJson;
using samples::MakeBatch;
using ::testing::HasSubstr;

samples::BatchPtr Values() {
  return MakeBatch({
      {"s", FromJson(arrow::utf8(), R"([" Äb ", "a%c", null])")},
      {"ls", FromJson(arrow::large_utf8(), R"(["abc", "", null])")},
      {"i", FromJson(arrow::int32(), "[-5, 3, null]")},
      {"f", FromJson(arrow::float64(), "[-2.5, NaN, null]")},
      {"d", FromJson(arrow::decimal128(5, 2), R"(["-1.25", "1.25", null])")},
      {"l", FromJson(arrow::list(arrow::int16()), "[[1, null, 2], [], null]")},
      {"lf", FromJson(arrow::large_list(arrow::float64()), "[[-0.0, NaN], [1], null]")},
      {"fl", FromJson(arrow::fixed_size_list(arrow::int8(), 2), "[[1, 2], [3, 3], null]")},
  });
}

TEST(FunctionsTest, Text) {
  EXPECT_EQ(Answer("lower(s) = ' äb '", Values()), "tfn");
  EXPECT_EQ(Answer("upper(ls) = 'ABC'", Values()), "tfn");
  EXPECT_EQ(Answer("length(s) = 4 AND octet_length(s) = 5", Values()), "tfn");
  EXPECT_EQ(Answer("char_length(ls) = 0", Values()), "ftn");
  EXPECT_EQ(Answer("trim(s) = 'Äb'", Values()), "tfn");
  EXPECT_EQ(Answer("ltrim(s) = 'Äb ' AND rtrim(s) = ' Äb'", Values()), "tfn");
  EXPECT_EQ(Answer("starts_with(ls, 'ab') AND ends_with(ls, 'bc')", Values()), "tfn");
  EXPECT_EQ(Answer("contains(s, '%')", Values()), "ftn");
  EXPECT_EQ(Answer("contains(s, NULL)", Values()), "nnn");
  EXPECT_EQ(Answer("regexp_like(ls, '^A', 'i')", Values()), "tfn");
  EXPECT_EQ(Answer("regexp_match(ls, '^A')", Values()), "ffn");
}

TEST(FunctionsTest, Concat) {
  EXPECT_EQ(Answer("ls || 'x' = 'abcx'", Values()), "tfn");
  EXPECT_EQ(Answer("s || ls = 'a%c'", Values()), "ftn");
  EXPECT_EQ(Answer("i || '' = '-5'", Values()), "tfn");
  EXPECT_EQ(Answer("s || NULL = ''", Values()), "nnn");
}

TEST(FunctionsTest, Numbers) {
  EXPECT_EQ(Answer("abs(i) = 5", Values()), "tfn");
  EXPECT_EQ(Answer("abs(d) = 1.25", Values()), "ttn");
  EXPECT_EQ(Answer("floor(f) = -3 AND ceil(f) = -2", Values()), "tfn");
  EXPECT_EQ(Answer("round(f) = -3", Values()), "tfn");
  EXPECT_EQ(Answer("round(d, 1) = 1.3", Values()), "ftn");
  EXPECT_EQ(Answer("sqrt(i + 6) = 1", Values()), "tfn");
  EXPECT_EQ(Answer("isnan(f)", Values()), "ftn");
  EXPECT_EQ(Answer("isnan(i) OR isnan(d)", Values()), "ffn");
}

TEST(FunctionsTest, Coalesce) {
  EXPECT_EQ(Answer("coalesce(i, 0) = 0", Values()), "fft");
  EXPECT_EQ(Answer("coalesce(NULL, i, f, 2.5) = 2.5", Values()), "fft");
  EXPECT_EQ(Answer("coalesce(s, ls, 'none') = 'none'", Values()), "fft");
}

TEST(FunctionsTest, Lists) {
  EXPECT_EQ(Answer("array_length(l) = 3", Values()), "tfn");
  EXPECT_EQ(Answer("cardinality(fl) = 2", Values()), "ttn");
  EXPECT_EQ(Answer("array_has(l, 2)", Values()), "tfn");
  EXPECT_EQ(Answer("array_contains(l, 70000)", Values()), "ffn");
  EXPECT_EQ(Answer("list_contains(fl, 3)", Values()), "ftn");
  EXPECT_EQ(Answer("array_has(l, 1.5)", Values()), "ffn");
  EXPECT_EQ(Answer("array_has(lf, 0) AND array_has(lf, 'NaN')", Values()), "tfn");
  EXPECT_EQ(Answer("array_has_any(l, [2, 7, 1.5])", Values()), "tfn");
  EXPECT_EQ(Answer("array_has_all(l, [2, 1])", Values()), "tfn");
  EXPECT_EQ(Answer("array_has_all(lf, [0.0, 'NaN'])", Values()), "tfn");
  EXPECT_EQ(Answer("array_has_all(l, [2, 1.5])", Values()), "ffn");
  EXPECT_EQ(Answer("array_has_all(l, [])", Values()), "ttn");
  EXPECT_EQ(Answer("array_has_any(l, [])", Values()), "ffn");
  EXPECT_EQ(Answer("array_has(l, NULL)", Values()), "nnn");
}

TEST(FunctionsTest, SlicedLists) {
  EXPECT_EQ(Answer("array_has(l, 2)", Values()->Slice(1)), "fn");
  EXPECT_EQ(Answer("array_has_all(fl, [3])", Values()->Slice(1, 1)), "t");
  EXPECT_EQ(Answer("array_has(lf, 1)", Values()->Slice(0, 0)), "");
}

TEST(FunctionsTest, WrongPatternsAreFoundWithoutARow) {
  const auto none = Values()->Slice(0, 0);
  EXPECT_THAT(Answer("regexp_like(s, 'a(')", none), HasSubstr("character 16: Invalid regular"));
  EXPECT_THAT(Answer("i = 1 OR regexp_match(s, '[z', 'i')", none), HasSubstr("[z"));
  EXPECT_EQ(Answer("regexp_like(s, 'a')", none), "");
}

TEST(FunctionsTest, WrongArgumentsAreNamed) {
  EXPECT_THAT(Answer("foo(s) = 1", Values()),
              HasSubstr("character 1: no function foo; there are lower, upper"));
  EXPECT_THAT(
      Answer("lower(i) = 'a'", Values()),
      HasSubstr("character 7: expected text as an argument of lower, found a value of type"));
  EXPECT_THAT(Answer("lower() = 'a'", Values()), HasSubstr("lower takes 1 argument, found 0"));
  EXPECT_THAT(Answer("round(f, 1, 2) = 1", Values()), HasSubstr("takes 1 or 2 arguments, found 3"));
  EXPECT_THAT(Answer("round(f, i) = 1", Values()), HasSubstr("must be a whole number"));
  EXPECT_THAT(Answer("starts_with(s, ls)", Values()),
              HasSubstr("character 16: the pattern of starts_with must be a literal"));
  EXPECT_THAT(Answer("regexp_like(s, '(')", Values()), HasSubstr("Invalid regular expression"));
  EXPECT_THAT(Answer("regexp_like(s, 'a', 'g')", Values()), HasSubstr("expected the flag 'i'"));
  EXPECT_THAT(Answer("coalesce(i, s) = 1", Values()), HasSubstr("takes values of one type"));
  EXPECT_THAT(Answer("coalesce() = 1", Values()), HasSubstr("an argument or more"));
  EXPECT_THAT(Answer("array_has(s, 1)", Values()), HasSubstr("expected a list as an argument"));
  EXPECT_THAT(Answer("array_has(l, i)", Values()), HasSubstr("must be a literal"));
  EXPECT_THAT(Answer("array_has(l, 'a')", Values()), HasSubstr("expected a number"));
  EXPECT_THAT(Answer("array_has(l, TRUE)", Values()), HasSubstr("can't compare"));
  EXPECT_THAT(Answer("array_has_any(l, 1)", Values()), HasSubstr("a list in brackets: [a, b]"));
  EXPECT_THAT(Answer("lower([1])", Values()), HasSubstr("takes no list in brackets"));
  EXPECT_THAT(Answer("[1] = 1", Values()), HasSubstr("a list in brackets stands in"));
}

}  // namespace
}  // namespace kinjo::predicate
