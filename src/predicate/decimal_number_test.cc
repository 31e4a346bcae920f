// Numbers of any size: their floors, digits and nearest floats.
#include "predicate/decimal_number.h"

#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

/// "value exact", "value below" when the number lies above its floor, or where it lies outside.
std::string FloorOf(const std::string& text, int32_t scale) {
  const DecimalNumber::Floor floor = DecimalNumber::Parse(text)->FloorAt(scale);
  if (floor.place == DecimalNumber::Place::kAbove) return "above";
  if (floor.place == DecimalNumber::Place::kBelow) return "below";
  return floor.value.ToIntegerString() + (floor.exact ? "" : "+");
}

TEST(DecimalNumberTest, FloorsAtAScale) {
  EXPECT_EQ(FloorOf("12", 0), "12");
  EXPECT_EQ(FloorOf("12", 2), "1200");
  EXPECT_EQ(FloorOf("1.5", 0), "1+");
  EXPECT_EQ(FloorOf("-1.5", 0), "-2+");
  EXPECT_EQ(FloorOf("1.50", 1), "15");
  EXPECT_EQ(FloorOf("0.001", 0), "0+");
  EXPECT_EQ(FloorOf("-0.001", 0), "-1+");
  EXPECT_EQ(FloorOf("0", 3), "0");
  EXPECT_EQ(FloorOf("-0.0", 0), "0");
  EXPECT_EQ(FloorOf("1200", -2), "12");
  EXPECT_EQ(FloorOf("1250", -2), "12+");
  EXPECT_EQ(FloorOf("1e3", 0), "1000");
  EXPECT_EQ(FloorOf("12.5e-1", 2), "125");
}

TEST(DecimalNumberTest, FarFromZero) {
  EXPECT_EQ(FloorOf("1e75", 0), base::Concat("1", std::string(75, '0')));
  EXPECT_EQ(FloorOf("1e76", 0), "above");
  EXPECT_EQ(FloorOf("-1e300", 0), "below");
  EXPECT_EQ(FloorOf("1e999999999999999999999", 0), "above");
  EXPECT_EQ(FloorOf("1e-999999999999999999999", 0), "0+");
  EXPECT_EQ(FloorOf("0e999999999999999999999", 0), "0");
  EXPECT_EQ(FloorOf(base::Concat("-", std::string(76, '9'), ".5"), 0),
            base::Concat("-1", std::string(76, '0'), "+"));
}

TEST(DecimalNumberTest, WhatIsNoNumber) {
  for (const char* text :
       {"", "-", ".", "e5", "1e", "1e+", "1.2.3", " 1", "1 ", "NaN", "0x1", "1,5"})
    EXPECT_FALSE(DecimalNumber::Parse(text).has_value()) << text;
}

TEST(DecimalNumberTest, NearestFloats) {
  EXPECT_EQ(DecimalNumber::Parse("0.1")->ToFloat(), 0.1F);
  EXPECT_EQ(DecimalNumber::Parse("0.1")->ToDouble(), 0.1);
  EXPECT_EQ(DecimalNumber::Parse("9007199254740993")->ToDouble(), 9007199254740992.0);
  // Rounding to double first would give the float below.
  EXPECT_EQ(DecimalNumber::Parse("1.000000059604644775390626")->ToFloat(), 1.00000011920929F);
  EXPECT_TRUE(std::isinf(DecimalNumber::Parse("-1e400")->ToDouble()));
}

TEST(DecimalNumberTest, DoublesAreExact) {
  EXPECT_TRUE(DecimalNumber::FromDouble(1048576.0).FloorAt(0).exact);
  EXPECT_EQ(DecimalNumber::FromDouble(0.1).fraction_digits(), 55);
  EXPECT_EQ(DecimalNumber::FromDouble(-2.5).FloorAt(1).value.ToIntegerString(), "-25");
  const double smallest = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(DecimalNumber::FromDouble(smallest).ToDouble(), smallest);
}

TEST(DecimalNumberTest, Digits) {
  EXPECT_EQ(DecimalNumber::Parse("12.50")->integer_digits(), 2);
  EXPECT_EQ(DecimalNumber::Parse("12.50")->fraction_digits(), 1);
  EXPECT_EQ(DecimalNumber::Parse("0.001")->integer_digits(), 0);
  EXPECT_EQ(DecimalNumber::Parse("0.001")->fraction_digits(), 3);
  EXPECT_EQ(DecimalNumber::Parse("1000")->integer_digits(), 4);
}

}  // namespace
}  // namespace kinjo::predicate
