// The types that columns are computed in, and where two types meet.
#include "predicate/value_type.h"

#include <string>

#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

std::string Common(const TypePtr& left, const TypePtr& right) {
  const TypePtr type = CommonType(left, right);
  const TypePtr mirrored = CommonType(right, left);
  if (type == nullptr) return mirrored == nullptr ? "none" : "one-sided";
  return mirrored != nullptr && mirrored->Equals(*type) ? type->ToString() : "one-sided";
}

TEST(ValueTypeTest, StoredTypes) {
  EXPECT_EQ(ValueType(arrow::float16())->ToString(), "float");
  EXPECT_EQ(ValueType(arrow::dictionary(arrow::int8(), arrow::utf8()))->ToString(), "string");
  EXPECT_EQ(ValueType(arrow::run_end_encoded(arrow::int32(), arrow::float16()))->ToString(),
            "float");
  EXPECT_EQ(ValueType(arrow::utf8_view())->ToString(), "large_string");
  EXPECT_EQ(ValueType(arrow::decimal32(5, 2))->ToString(), "decimal128(5, 2)");
  EXPECT_EQ(ValueType(arrow::int8())->ToString(), "int8");
}

TEST(ValueTypeTest, NumbersMeetWhereNeitherIsLost) {
  EXPECT_EQ(Common(arrow::int8(), arrow::int32()), "int32");
  EXPECT_EQ(Common(arrow::uint8(), arrow::int8()), "int16");
  EXPECT_EQ(Common(arrow::uint32(), arrow::int8()), "int64");
  EXPECT_EQ(Common(arrow::uint8(), arrow::int64()), "int64");
  EXPECT_EQ(Common(arrow::uint64(), arrow::int8()), "decimal128(20, 0)");
  EXPECT_EQ(Common(arrow::float32(), arrow::float64()), "double");
  EXPECT_EQ(Common(arrow::float32(), arrow::int8()), "double");
  EXPECT_EQ(Common(arrow::decimal128(10, 2), arrow::int64()), "decimal128(21, 2)");
  EXPECT_EQ(Common(arrow::decimal128(38, 0), arrow::decimal128(38, 30)), "decimal256(68, 30)");
  EXPECT_EQ(Common(arrow::decimal256(76, 0), arrow::decimal256(76, 30)), "double");
  EXPECT_EQ(Common(arrow::decimal128(10, 2), arrow::float32()), "double");
}

TEST(ValueTypeTest, OtherTypes) {
  const auto seconds = arrow::timestamp(arrow::TimeUnit::SECOND);
  const auto micros = arrow::timestamp(arrow::TimeUnit::MICRO);
  EXPECT_EQ(Common(arrow::utf8(), arrow::large_utf8()), "large_string");
  EXPECT_EQ(Common(arrow::utf8(), arrow::binary()), "large_binary");
  EXPECT_EQ(Common(arrow::fixed_size_binary(2), arrow::fixed_size_binary(3)), "large_binary");
  EXPECT_EQ(Common(seconds, micros), "timestamp[us]");
  EXPECT_EQ(Common(arrow::date32(), seconds), "timestamp[s]");
  EXPECT_EQ(Common(arrow::date32(), arrow::date64()), "timestamp[ms]");
  EXPECT_EQ(Common(arrow::time32(arrow::TimeUnit::SECOND), arrow::time64(arrow::TimeUnit::NANO)),
            "time64[ns]");
  EXPECT_EQ(Common(arrow::null(), arrow::date32()), "date32[day]");
}

TEST(ValueTypeTest, WhatDoesNotMeet) {
  EXPECT_EQ(Common(arrow::utf8(), arrow::int32()), "none");
  EXPECT_EQ(Common(arrow::boolean(), arrow::int32()), "none");
  EXPECT_EQ(Common(arrow::timestamp(arrow::TimeUnit::SECOND),
                   arrow::timestamp(arrow::TimeUnit::SECOND, "UTC")),
            "none");
  EXPECT_EQ(Common(arrow::date32(), arrow::time32(arrow::TimeUnit::SECOND)), "none");
}

}  // namespace
}  // namespace kinjo::predicate
