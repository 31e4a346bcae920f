// Arithmetic in int64, float64 and decimals: its types, and where it fails.
#include "predicate/arithmetic.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "predicate/predicate_samples.h"

namespace kinjo::predicate {
namespace {

using samples::Answer;
using samples::FromJson;
using samples::MakeBatch;
using ::testing::HasSubstr;

samples::BatchPtr Numbers() {
  return MakeBatch({
      {"i", FromJson(arrow::int8(), "[127, -7, 0, null]")},
      {"u", FromJson(arrow::uint64(), "[1, 2, 18446744073709551615, null]")},
      {"big", FromJson(arrow::int64(), "[9223372036854775807, 1, 2, null]")},
      {"f", FromJson(arrow::float32(), "[0.5, -1, 0, null]")},
      {"d", FromJson(arrow::decimal128(10, 2), R"(["1.50", "-2.25", "0.00", null])")},
  });
}

TEST(ArithmeticTest, IntegersDoNotWrapAround) {
  EXPECT_EQ(Answer("i + 1 = 128", Numbers()), "tffn");
  EXPECT_EQ(Answer("i * i = 16129", Numbers()), "tffn");
  EXPECT_EQ(Answer("-i = 7", Numbers()), "ftfn");
  EXPECT_THAT(Answer("big + 1 > 0", Numbers()), HasSubstr("character 5: overflow"));
  EXPECT_THAT(Answer("u + 1 > 0", Numbers()), HasSubstr("18446744073709551615"));
}

TEST(ArithmeticTest, IntegersDivideTowardsZero) {
  EXPECT_EQ(Answer("i / 2 = -3", Numbers()), "ftfn");
  EXPECT_EQ(Answer("i % 2 = -1", Numbers()), "ftfn");
  EXPECT_THAT(Answer("1 / i = 0", Numbers()), HasSubstr("invalid: predicate, character 3: divide"));
  EXPECT_THAT(Answer("i % 0 = 0", Numbers()), HasSubstr("divide by zero"));
}

TEST(ArithmeticTest, FloatsFollowIeee) {
  EXPECT_EQ(Answer("1 / f = 2", Numbers()), "tffn");
  EXPECT_EQ(Answer("f / 0 = 'inf'", Numbers()), "tffn");
  EXPECT_EQ(Answer("isnan(f % 0)", Numbers()), "tttn");
  EXPECT_EQ(Answer("i * 0.5 = -3.5", Numbers()), "ftfn");
}

TEST(ArithmeticTest, DecimalsAreExact) {
  EXPECT_EQ(Answer("d + 0.1 = 1.6", Numbers()), "tffn");
  EXPECT_EQ(Answer("d * d = 5.0625", Numbers()), "ftfn");
  EXPECT_EQ(Answer("d + i = 128.5", Numbers()), "tffn");
  EXPECT_EQ(Answer("-d = 2.25", Numbers()), "ftfn");
  EXPECT_EQ(Answer("d + f = 2", Numbers()), "tffn");
  EXPECT_THAT(Answer("d / 0 = 1", Numbers()), HasSubstr("ivide by zero"));
  EXPECT_THAT(Answer("d * d * d * d * d * d * d * d = 1", Numbers()), HasSubstr("recision"));
}

TEST(ArithmeticTest, NullsStayNull) {
  EXPECT_EQ(Answer("i + NULL = 1", Numbers()), "nnnn");
  EXPECT_EQ(Answer("-NULL IS NULL", Numbers()), "tttt");
}

TEST(ArithmeticTest, ConstantsAreComputedOnce) {
  EXPECT_EQ(Answer("i = 100 + 27", Numbers()), "tffn");
  EXPECT_THAT(Answer("i = 1 / 0", Numbers()), HasSubstr("character 7: divide by zero"));
}

TEST(ArithmeticTest, OnlyNumbers) {
  EXPECT_THAT(Answer("i + 'a' = 1", Numbers()),
              HasSubstr("character 5: expected a number to compute with, found a value of type"));
  EXPECT_THAT(Answer("-TRUE", Numbers()), HasSubstr("expected a number"));
}

}  // namespace
}  // namespace kinjo::predicate
