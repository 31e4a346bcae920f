// What casts keep, cut off, round and refuse.
#include "predicate/cast_value.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::OneColumn;
using ::testing::HasSubstr;

TEST(CastValueTest, FractionsAreCutOff) {
  const auto floats = OneColumn(arrow::float64(), "[1.9, -1.9, null]");
  EXPECT_EQ(Answer("CAST(x AS INT) = 1", floats), "tfn");
  EXPECT_EQ(Answer("x::bigint = -1", floats), "ftn");
  const auto decimals = OneColumn(arrow::decimal128(10, 2), R"(["1.99", "-1.99", null])");
  EXPECT_EQ(Answer("x::int = -1", decimals), "ftn");
}

TEST(CastValueTest, DecimalsAreRounded) {
  const auto decimals = OneColumn(arrow::decimal128(10, 2), R"(["1.25", "-1.25", null])");
  EXPECT_EQ(Answer("x::decimal(5, 1) = 1.3", decimals), "tfn");
  EXPECT_EQ(Answer("x::decimal(5, 1) = -1.3", decimals), "ftn");
  const auto integers = OneColumn(arrow::int64(), "[5, null]");
  EXPECT_EQ(Answer("x::decimal(5, 2) = 5", integers), "tn");
}

TEST(CastValueTest, WhatDoesNotFitFails) {
  const auto integers = OneColumn(arrow::int32(), "[300, 1]");
  EXPECT_THAT(Answer("CAST(x AS TINYINT) = 1", integers), HasSubstr("character 1: Integer value"));
  EXPECT_THAT(Answer("x::decimal(4, 2) = 1", integers), HasSubstr("does not fit"));
  const auto floats = OneColumn(arrow::float64(), "[NaN]");
  EXPECT_THAT(Answer("x::int = 1", floats), HasSubstr("invalid: predicate, character 2"));
  const auto large = OneColumn(arrow::float64(), "[1e300]");
  EXPECT_THAT(Answer("x::bigint = 1", large), HasSubstr("invalid: predicate, character 2"));
  const auto text = OneColumn(arrow::utf8(), R"(["1", "one"])");
  EXPECT_THAT(Answer("x::int = 1", text), HasSubstr("Failed to parse string: 'one'"));
}

TEST(CastValueTest, Text) {
  const auto text = OneColumn(arrow::utf8(), R"(["12", "007", null])");
  EXPECT_EQ(Answer("x::int = 7", text), "ftn");
  EXPECT_EQ(Answer("x::double = 12", text), "tfn");
  const auto integers = OneColumn(arrow::int32(), "[12, null]");
  EXPECT_EQ(Answer("x::text = '12'", integers), "tn");
  const auto dates = OneColumn(arrow::utf8(), R"(["2024-02-29", null])");
  EXPECT_EQ(Answer("x::date = '2024-02-29'", dates), "tn");
  EXPECT_EQ(Answer("x::timestamp > '2024-02-28 23:59'", dates), "tn");
}

TEST(CastValueTest, NoSuchCastIsNamed) {
  const auto lists = OneColumn(arrow::list(arrow::int32()), "[[1]]");
  EXPECT_THAT(Answer("x::int = 1", lists),
              HasSubstr("character 2: a value of type list<item: int32> can't be cast to int32"));
}

TEST(CastValueTest, WhatCanFail) {
  EXPECT_FALSE(CastCanFail(arrow::int8(), arrow::int64()));
  EXPECT_TRUE(CastCanFail(arrow::int64(), arrow::int8()));
  EXPECT_TRUE(CastCanFail(arrow::uint64(), arrow::int64()));
  EXPECT_FALSE(CastCanFail(arrow::int64(), arrow::float64()));
  EXPECT_TRUE(CastCanFail(arrow::utf8(), arrow::int32()));
  EXPECT_FALSE(CastCanFail(arrow::utf8(), arrow::large_utf8()));
}

}  // namespace
}  // namespace kinjo::predicate
