// Bounds hold every value for which an expression is true or unknown: random expressions are
// checked against their own evaluation.
#include "dataset/value_bounds.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "arrow/api.h"
#include "base/error.h"
#include "gtest/gtest.h"
#include "predicate/predicate.h"

namespace kinjo::dataset {
namespace {

std::shared_ptr<arrow::Schema> TestSchema() {
  return arrow::schema({arrow::field("i", arrow::int32()), arrow::field("u", arrow::uint64()),
                        arrow::field("f", arrow::float64()), arrow::field("s", arrow::utf8()),
                        arrow::field("m", arrow::decimal128(10, 2))});
}

std::shared_ptr<const predicate::Predicate> Parse(const std::string& text) {
  auto parsed = predicate::Predicate::Parse(text, TestSchema());
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.status();
  return parsed.ValueOrDie();
}

ValueBounds BoundsOf(const std::string& text) { return ValueBounds::Of(Parse(text)->root()); }

bool Holds(const std::string& text, SortKey minimum, SortKey maximum) {
  return BoundsOf(text).MayHold(minimum, maximum);
}
bool HoldsInt(const std::string& text, int64_t minimum, int64_t maximum) {
  return Holds(text, minimum, maximum);
}

TEST(ValueBoundsTest, ComparisonsBoundOneSide) {
  EXPECT_TRUE(HoldsInt("i = 5", 0, 5));
  EXPECT_FALSE(HoldsInt("i = 5", 6, 9));
  EXPECT_FALSE(HoldsInt("i = 5", 0, 4));
  EXPECT_FALSE(HoldsInt("i > 5", 0, 4));
  EXPECT_FALSE(HoldsInt("i >= 5", 0, 4));
  EXPECT_TRUE(HoldsInt("i >= 5", 5, 5));
  EXPECT_FALSE(HoldsInt("i < 5", 6, 9));
  EXPECT_TRUE(HoldsInt("i <= 5", 5, 9));
  EXPECT_FALSE(HoldsInt("5 < i", 0, 4));
  EXPECT_FALSE(Holds("u < 3", uint64_t{4}, ~uint64_t{0}));
  EXPECT_FALSE(Holds("f > 1.5", 0.0, 1.25));
  EXPECT_FALSE(Holds("s = 'b'", std::string("c"), std::string("d")));
}

TEST(ValueBoundsTest, ListsAreSinglePoints) {
  const ValueBounds bounds = BoundsOf("i IN (3, 9, -4)");
  const auto holds = [&](int64_t minimum, int64_t maximum) {
    return bounds.MayHold(SortKey(minimum), SortKey(maximum));
  };
  EXPECT_TRUE(holds(-9, -4));
  EXPECT_FALSE(holds(-3, 2));
  EXPECT_TRUE(holds(3, 3));
  EXPECT_FALSE(holds(4, 8));
  EXPECT_FALSE(holds(10, 99));
  // What isn't in the list is unknown.
  EXPECT_TRUE(BoundsOf("i IN (3, NULL)").is_everything());
}

TEST(ValueBoundsTest, LogicJoinsBounds) {
  EXPECT_FALSE(HoldsInt("i > 3 AND i < 9", 10, 20));
  EXPECT_FALSE(HoldsInt("i > 3 AND i < 9", 0, 2));
  EXPECT_FALSE(HoldsInt("i BETWEEN 3 AND 9", 10, 20));
  EXPECT_TRUE(HoldsInt("i < 3 OR i > 9", 0, 1));
  EXPECT_FALSE(HoldsInt("i < 3 OR i > 9", 4, 8));
  EXPECT_FALSE(HoldsInt("NOT (i >= 3 AND i <= 9)", 4, 8));
  EXPECT_FALSE(HoldsInt("NOT (i < 3 OR i > 9)", 10, 20));
  EXPECT_FALSE(HoldsInt("i > 9 AND i < 3", -100, 100));
  EXPECT_TRUE(BoundsOf("i <> 5").is_everything());
  EXPECT_FALSE(HoldsInt("NOT (i <> 5)", 6, 9));
  EXPECT_FALSE(HoldsInt("i IS NULL", -100, 100));
  EXPECT_TRUE(BoundsOf("i IS NOT NULL").is_everything());
  EXPECT_FALSE(Holds("isnan(f)", -1e300, 1e300));
  EXPECT_TRUE(BoundsOf("NOT isnan(f)").is_everything());
}

TEST(ValueBoundsTest, APatternBoundsByItsPrefix) {
  const auto holds = [](const std::string& text, const std::string& least,
                        const std::string& most) { return Holds(text, least, most); };
  EXPECT_TRUE(holds("s LIKE 'ab%'", "a", "abc"));
  EXPECT_FALSE(holds("s LIKE 'ab%'", "ad", "b"));
  EXPECT_FALSE(holds("s LIKE 'ab%'", "a", "aa"));
  EXPECT_FALSE(holds("s LIKE 'ab_c'", "ad", "b"));
  EXPECT_TRUE(BoundsOf("s LIKE '%ab'").is_everything());
  EXPECT_TRUE(BoundsOf("s NOT LIKE 'ab%'").is_everything());
}

TEST(ValueBoundsTest, WhatHasNoOrderIsUnbounded) {
  EXPECT_TRUE(BoundsOf("m > 1.5").is_everything());
  EXPECT_TRUE(BoundsOf("i % 3 = 1").is_everything());
}

TEST(ValueBoundsTest, AMissingEndSaysNothing) {
  const ValueBounds bounds = BoundsOf("i > 5");
  EXPECT_TRUE(bounds.MayHold(std::nullopt, SortKey(int64_t{9})));
  EXPECT_FALSE(bounds.MayHold(std::nullopt, SortKey(int64_t{3})));
  EXPECT_TRUE(bounds.MayHold(SortKey(int64_t{0}), std::nullopt));
  EXPECT_FALSE(ValueBounds::None().MayHold(std::nullopt, std::nullopt));
}

/// A random condition on `i`, with values from -3 to 12.
std::string Condition(std::mt19937* random, int depth) {
  const auto number = [&] { return static_cast<int>((*random)() % 16) - 3; };
  const char* comparisons[] = {"=", "<>", "<", "<=", ">", ">="};
  const uint32_t kind = (*random)() % (depth > 0 ? 8 : 5);
  switch (kind) {
    case 0:
      return base::Concat("i IN (", number(), ", ", number(), ")");
    case 1:
      return "i IS NULL";
    case 5:
      return base::Concat("NOT (", Condition(random, depth - 1), ")");
    case 6:
    case 7:
      return base::Concat("(", Condition(random, depth - 1), kind == 6 ? " AND " : " OR ",
                          Condition(random, depth - 1), ")");
    default:
      return base::Concat("i ", comparisons[(*random)() % 6], " ", number());
  }
}

TEST(ValueBoundsTest, NothingThatMayPassLiesOutside) {
  std::mt19937 random(11);
  arrow::Int32Builder builder;
  for (int value = -5; value < 15; ++value) ASSERT_TRUE(builder.Append(value).ok());
  const auto values = builder.Finish().ValueOrDie();
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("i", arrow::int32())}),
                                              values->length(), {values});
  int skipped = 0;
  for (int round = 0; round < 500; ++round) {
    const std::string text = Condition(&random, 3);
    const auto parsed = Parse(text);
    const ValueBounds bounds = ValueBounds::Of(parsed->root());
    const auto truth = parsed->Evaluate(*batch).ValueOrDie();
    for (int64_t i = 0; i < values->length(); ++i) {
      const auto key = SortKeyOf(*values, i);
      const bool may_pass = truth->IsNull(i) || truth->Value(i);
      const bool inside = bounds.MayHold(key, key);
      EXPECT_TRUE(inside || !may_pass) << text << " of " << i - 5;
      skipped += inside ? 0 : 1;
    }
  }
  EXPECT_GT(skipped, 2000);  // bounds that hold everything would pass too
}

}  // namespace
}  // namespace kinjo::dataset
