// Comparisons mean what they say whatever the types, and stay in the column's own type where an
// index could answer them.
#include "predicate/comparison.h"

#include <limits>
#include <string>
#include <vector>

#include "arrow/compute/cast.h"
#include "arrow/compute/initialize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::FromJson;
using samples::MakeBatch;
using samples::OneColumn;
using ::testing::HasSubstr;

constexpr char kBytes[] = "[0, 1, 255, null]";

/// The tree of a predicate over one column.
std::shared_ptr<const Predicate> Tree(const std::string& text,
                                      const std::shared_ptr<arrow::DataType>& type) {
  return Predicate::Parse(text, arrow::schema({arrow::field("x", type)})).ValueOrDie();
}

TEST(ComparisonTest, LiteralsBeyondTheTypeNeverWrapAround) {
  const auto batch = OneColumn(arrow::uint8(), kBytes);
  EXPECT_EQ(Answer("x = -1", batch), "fffn");
  EXPECT_EQ(Answer("x <> -1", batch), "tttn");
  EXPECT_EQ(Answer("x > -1", batch), "tttn");
  EXPECT_EQ(Answer("x <= -1", batch), "fffn");
  EXPECT_EQ(Answer("x < 300", batch), "tttn");
  EXPECT_EQ(Answer("x >= 300", batch), "fffn");
  EXPECT_EQ(Answer("NOT x >= 300", batch), "tttn");
  EXPECT_EQ(Answer("300 > x", batch), "tttn");
  EXPECT_EQ(Answer("x < 1e300", batch), "tttn");
  EXPECT_EQ(Answer("x = 255.0", batch), "fftn");
  EXPECT_EQ(Answer("x = '255'", batch), "fftn");
  EXPECT_EQ(Answer("x < CAST('NaN' AS DOUBLE)", batch), "tttn");
  EXPECT_EQ(Answer("x > CAST('-inf' AS DOUBLE)", batch), "tttn");
}

TEST(ComparisonTest, LiteralsBetweenTwoValues) {
  const auto batch = OneColumn(arrow::int32(), "[-2, -1, 0, 1, 2, null]");
  EXPECT_EQ(Answer("x < 0.5", batch), "tttffn");
  EXPECT_EQ(Answer("x <= 0.5", batch), "tttffn");
  EXPECT_EQ(Answer("x > -1.5", batch), "fttttn");
  EXPECT_EQ(Answer("x >= -1.5", batch), "fttttn");
  EXPECT_EQ(Answer("-1.5 > x", batch), "tffffn");
  EXPECT_EQ(Answer("x = 0.5", batch), "fffffn");
  EXPECT_EQ(Answer("x <> 0.5", batch), "tttttn");
  EXPECT_EQ(Answer("x BETWEEN -1.5 AND 1.5", batch), "ftttfn");
}

TEST(ComparisonTest, TheEndsOf64Bits) {
  const auto batch = OneColumn(arrow::int64(), "[9223372036854775807, -9223372036854775808, null]");
  EXPECT_EQ(Answer("x < 9223372036854775808", batch), "ttn");
  EXPECT_EQ(Answer("x = 9223372036854775807", batch), "tfn");
  EXPECT_EQ(Answer("x = -9223372036854775808", batch), "ftn");
  EXPECT_EQ(Answer("x > -9223372036854775809", batch), "ttn");
  const auto both = MakeBatch({{"u", FromJson(arrow::uint64(), "[18446744073709551615, 5, 0]")},
                               {"i", FromJson(arrow::int64(), "[-1, 5, -1]")}});
  EXPECT_EQ(Answer("u = i", both), "ftf");
  EXPECT_EQ(Answer("u > i", both), "tft");
}

TEST(ComparisonTest, NumbersAreRoundedToFloatTypes) {
  const auto singles = OneColumn(arrow::float32(), "[0.1, 0.2, Inf, NaN, null]");
  EXPECT_EQ(Answer("x = 0.1", singles), "tfffn");
  EXPECT_EQ(Answer("x < 1e39", singles), "ttffn");
  EXPECT_EQ(Answer("x = 1e39", singles), "ffffn");
  EXPECT_EQ(Answer("x > -1e39", singles), "ttttn");
  EXPECT_EQ(Answer("x = CAST(0.1 AS DOUBLE)", singles), "ffffn");
  const auto half =
      arrow::compute::Cast(*FromJson(arrow::float32(), "[0.1, 65504, null]"), arrow::float16())
          .ValueOrDie();
  const auto halves = MakeBatch({{"x", half}});
  EXPECT_EQ(Answer("x = 0.1", halves), "tfn");
  EXPECT_EQ(Answer("x < 65505", halves), "tfn");
  EXPECT_EQ(Answer("x < 70000", halves), "ttn");
  EXPECT_EQ(Answer("x IN (0.1, 70000)", halves), "tfn");
}

TEST(ComparisonTest, NanIsAboveAllAndEqualToItself) {
  const auto batch = MakeBatch({{"x", FromJson(arrow::float64(), "[NaN, 1, Inf, NaN, null, -0.0]")},
                                {"y", FromJson(arrow::float64(), "[NaN, NaN, NaN, 1, 1, 0.0]")}});
  EXPECT_EQ(Answer("x = y", batch), "tfffnt");
  EXPECT_EQ(Answer("x <> y", batch), "ftttnf");
  EXPECT_EQ(Answer("x < y", batch), "fttfnf");
  EXPECT_EQ(Answer("x <= y", batch), "tttfnt");
  EXPECT_EQ(Answer("x > y", batch), "ffftnf");
  EXPECT_EQ(Answer("x >= y", batch), "tfftnt");
  EXPECT_EQ(Answer("x > 5", batch), "tfttnf");
  EXPECT_EQ(Answer("x < 5", batch), "ftffnt");
  EXPECT_EQ(Answer("x = 'NaN'", batch), "tfftnf");
  EXPECT_EQ(Answer("x IN (0, 'NaN')", batch), "tfftnt");
  EXPECT_EQ(Answer("x NOT IN (0.0)", batch), "ttttnf");
}

TEST(ComparisonTest, Decimals) {
  const auto batch = OneColumn(arrow::decimal128(4, 2), R"(["1.00", "1.01", "-99.99", null])");
  EXPECT_EQ(Answer("x = 1", batch), "tffn");
  EXPECT_EQ(Answer("x = 1.010", batch), "ftfn");
  EXPECT_EQ(Answer("x > 1.001", batch), "ftfn");
  EXPECT_EQ(Answer("x = 1.001", batch), "fffn");
  EXPECT_EQ(Answer("x < 100", batch), "tttn");
  EXPECT_EQ(Answer("x > -100.5", batch), "tttn");
  EXPECT_EQ(Answer("x IN (1, '1.01', 1.011)", batch), "ttfn");
}

TEST(ComparisonTest, DatesAndTimestamps) {
  const auto days = OneColumn(arrow::date32(), "[0, 1, null]");
  EXPECT_EQ(Answer("x = '1970-01-02'", days), "ftn");
  EXPECT_EQ(Answer("x < '1970-01-02 00:00:00.000000001'", days), "ttn");
  EXPECT_EQ(Answer("x < TIMESTAMP '1970-01-01 12:00:00'", days), "tfn");
  EXPECT_EQ(Answer("x > '0001-01-01'", days), "ttn");
  const auto millis = OneColumn(arrow::timestamp(arrow::TimeUnit::MILLI), "[-1, 1500, null]");
  EXPECT_EQ(Answer("x = '1969-12-31 23:59:59.999'", millis), "tfn");
  EXPECT_EQ(Answer("x > '1970-01-01 00:00:01.4999999'", millis), "ftn");
  EXPECT_EQ(Answer("x = '1970-01-01 02:00:01.5+02:00'", millis), "ftn");
  const auto nanos = OneColumn(arrow::timestamp(arrow::TimeUnit::NANO), "[0, null]");
  EXPECT_EQ(Answer("x < '9999-12-31'", nanos), "tn");
  EXPECT_EQ(Answer("x < '1000-01-01'", nanos), "fn");
  const auto times = OneColumn(arrow::time32(arrow::TimeUnit::SECOND), "[60, null]");
  EXPECT_EQ(Answer("x = '00:01'", times), "tn");
  EXPECT_EQ(Answer("x < TIME '00:01:00.1'", times), "tn");
}

TEST(ComparisonTest, AZonedColumnReadsLiteralsOnItsClocks) {
  const auto type = arrow::timestamp(arrow::TimeUnit::SECOND, "America/New_York");
  const auto batch = OneColumn(type, "[1719849600, null]");  // noon there on 2024-07-01 is 16:00Z
  EXPECT_EQ(Answer("x = '2024-07-01 12:00'", batch), "tn");
  EXPECT_EQ(Answer("x = '2024-07-01 16:00Z'", batch), "tn");
  EXPECT_EQ(Answer("x > DATE '2024-07-01'", batch), "tn");
  EXPECT_EQ(Answer("x > '0001-01-01' AND x < '9999-12-31'", batch), "tn");
  const auto offset =
      OneColumn(arrow::timestamp(arrow::TimeUnit::SECOND, "+05:30"), "[1719849600]");
  EXPECT_EQ(Answer("x = '2024-07-01 21:30'", offset), "t");
}

TEST(ComparisonTest, TextAndBytes) {
  const auto text = OneColumn(arrow::large_utf8(), R"(["a", "b", null])");
  EXPECT_EQ(Answer("x = 'a'", text), "tfn");
  EXPECT_EQ(Answer("x > X'61'", text), "ftn");
  const auto fixed = OneColumn(arrow::fixed_size_binary(2), R"(["ab", "b ", null])");
  EXPECT_EQ(Answer("x = 'ab'", fixed), "tfn");
  EXPECT_EQ(Answer("x > 'a'", fixed), "ttn");
  EXPECT_EQ(Answer("x = 'a'", fixed), "ffn");
  EXPECT_EQ(Answer("x IN ('a', X'6162')", fixed), "tfn");
}

TEST(ComparisonTest, InIsThreeValued) {
  const auto batch = OneColumn(arrow::uint8(), kBytes);
  EXPECT_EQ(Answer("x IN (1, 300, 0.5, '255')", batch), "fttn");
  EXPECT_EQ(Answer("x IN (1, NULL)", batch), "ntnn");
  EXPECT_EQ(Answer("x NOT IN (1, NULL)", batch), "nfnn");
  EXPECT_EQ(Answer("x IN (300)", batch), "fffn");
  EXPECT_EQ(Answer("x NOT IN (300)", batch), "tttn");
  EXPECT_EQ(Answer("x IN (300, NULL)", batch), "nnnn");
  EXPECT_EQ(Answer("x IN (x, 7)", batch), "tttn");
  EXPECT_EQ(Answer("x IN (x + 1, NULL, 255)", batch), "nntn");
  EXPECT_EQ(Answer("NULL IN (1)", batch), "nnnn");
}

TEST(ComparisonTest, DistinctIsNeverUnknown) {
  const auto batch = MakeBatch({{"x", FromJson(arrow::int8(), "[1, 1, null, null]")},
                                {"y", FromJson(arrow::int32(), "[1, 2, 1, null]")}});
  EXPECT_EQ(Answer("x IS DISTINCT FROM y", batch), "fttf");
  EXPECT_EQ(Answer("x IS NOT DISTINCT FROM y", batch), "tfft");
  EXPECT_EQ(Answer("x IS DISTINCT FROM NULL", batch), "ttff");
  EXPECT_EQ(Answer("x IS NOT DISTINCT FROM 1", batch), "ttff");
  EXPECT_EQ(Answer("x IS DISTINCT FROM 300", batch), "tttt");
}

TEST(ComparisonTest, TypesThatDoNotMeetAreNamed) {
  const auto batch = OneColumn(arrow::utf8(), R"(["a"])");
  EXPECT_THAT(Answer("x = 1", batch),
              HasSubstr("character 3: can't compare string with int64; CAST one of them"));
  const auto numbers = OneColumn(arrow::int32(), "[1]");
  EXPECT_THAT(Answer("x = 'one'", numbers),
              HasSubstr("character 5: expected a number to compare with int32, found 'one'"));
  EXPECT_THAT(Answer("x = TRUE", numbers), HasSubstr("can't compare int32 with bool"));
  EXPECT_THAT(Answer("x = DATE '2024-01-01'", numbers), HasSubstr("can't compare int32 with date"));
  const auto lists = OneColumn(arrow::list(arrow::int32()), "[[1]]");
  EXPECT_THAT(Answer("x = x", lists), HasSubstr("can't be compared"));
  const auto flags = OneColumn(arrow::boolean(), "[true]");
  EXPECT_THAT(Answer("x = 'yes'", flags), HasSubstr("expected 'true' or 'false'"));
}

TEST(ComparisonTest, AnIndexFindsColumnAndLiteralInOneType) {
  const auto predicate = Tree("7.5 > x", arrow::int16());
  const Expression& root = predicate->root();
  EXPECT_EQ(root.kind, ExpressionKind::kLessEqual);
  EXPECT_EQ(root.inputs[0]->kind, ExpressionKind::kColumn);
  EXPECT_EQ(root.inputs[1]->kind, ExpressionKind::kLiteral);
  EXPECT_TRUE(root.inputs[1]->literal->Equals(arrow::Int16Scalar(7)));
  EXPECT_FALSE(root.can_fail);
}

TEST(ComparisonTest, ValuesOfInAreSortedOnceEach) {
  const auto predicate = Tree("x IN (3, 1, 2.5, 1.0, 3, NULL)", arrow::int16());
  const Expression& root = predicate->root();
  EXPECT_EQ(root.kind, ExpressionKind::kIn);
  EXPECT_TRUE(root.values->Equals(*FromJson(arrow::int16(), "[1, 3]")));
  EXPECT_TRUE(root.values_have_null);
  const auto floats = Tree("x IN (0, 1)", arrow::float32());
  EXPECT_EQ(floats->root().values->length(), 3);
}

TEST(ComparisonTest, WhatNoValueCanBeIsAndOfIsNullAndNull) {
  const auto predicate = Tree("x = 1.5", arrow::int16());
  const Expression& root = predicate->root();
  EXPECT_EQ(root.kind, ExpressionKind::kAnd);
  EXPECT_EQ(root.inputs[0]->kind, ExpressionKind::kIsNull);
  EXPECT_EQ(root.inputs[1]->kind, ExpressionKind::kLiteral);
  EXPECT_FALSE(root.inputs[1]->literal->is_valid);
}

}  // namespace
}  // namespace kinjo::predicate
