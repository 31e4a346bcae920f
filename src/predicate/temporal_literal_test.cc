// Dates and times as text, and wall clocks in zones.
#include "predicate/temporal_literal.h"

#include <string>

#include "gtest/gtest.h"

namespace kinjo::predicate {
namespace {

TEST(TemporalLiteralTest, Timestamps) {
  const auto date = ParseTimestamp("1970-01-02");
  ASSERT_TRUE(date.has_value());
  EXPECT_TRUE(date->date_only);
  EXPECT_EQ(date->instant.seconds, 86'400);
  const auto time = ParseTimestamp("1969-12-31T23:59:59.500");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->instant.seconds, -1);
  EXPECT_EQ(time->instant.nanos, 500'000'000);
  EXPECT_EQ(time->digits, 1);
  EXPECT_FALSE(time->zoned);
  EXPECT_EQ(ParseTimestamp("0001-01-01")->instant.seconds, -62'135'596'800);
  EXPECT_EQ(ParseTimestamp("9999-12-31 23:59:59.999999999")->instant.seconds, 253'402'300'799);
  EXPECT_EQ(ParseTimestamp("2000-01-01 00:00")->instant.seconds, 946'684'800);
}

TEST(TemporalLiteralTest, OffsetsAreTakenOff) {
  for (const char* text : {"2000-01-01T00:00:00Z", "2000-01-01 02:00:00+02:00",
                           "2000-01-01 02:00:00 +0200", "1999-12-31T22:30-01:30"}) {
    const auto time = ParseTimestamp(text);
    ASSERT_TRUE(time.has_value()) << text;
    EXPECT_TRUE(time->zoned) << text;
    EXPECT_EQ(time->instant.seconds, 946'684'800) << text;
  }
}

TEST(TemporalLiteralTest, WhatIsNoTimestamp) {
  for (const char* text :
       {"", "2024", "2024-1-1", "2024-02-30", "2024-13-01", "2024-01-01T", "2024-01-01 24:00",
        "2024-01-01 1:00", "2024-01-01 00:60", "2024-01-01 00:00:60", "2024-01-01 00:00:00.",
        "2024-01-01 00:00:00.1234567890", "2024-01-01 00:00:00+24", "2024-01-01x", "24-01-01",
        "2024-01-01 00:00:00 Z "})
    EXPECT_FALSE(ParseTimestamp(text).has_value()) << text;
}

TEST(TemporalLiteralTest, TimesOfDay) {
  EXPECT_EQ(ParseTimeOfDay("00:00"), 0);
  EXPECT_EQ(ParseTimeOfDay("23:59:59.999999999"), 86'399'999'999'999);
  EXPECT_FALSE(ParseTimeOfDay("24:00").has_value());
  EXPECT_FALSE(ParseTimeOfDay("12:00Z").has_value());
}

TEST(TemporalLiteralTest, InstantsOfScalarsBeforeTheEpoch) {
  const Instant millis =
      InstantOf(arrow::TimestampScalar(-1, arrow::timestamp(arrow::TimeUnit::MILLI)));
  EXPECT_EQ(millis.seconds, -1);
  EXPECT_EQ(millis.nanos, 999'000'000);
  EXPECT_EQ(InstantOf(arrow::Date32Scalar(-1)).seconds, -86'400);
}

TEST(TemporalLiteralTest, WallClocksInZones) {
  const int64_t noon = ParseTimestamp("2024-07-01 12:00")->instant.seconds;
  EXPECT_EQ(ToUtc({noon, 5}, "America/New_York")->seconds, noon + 4 * 3600);
  EXPECT_EQ(ToUtc({noon, 5}, "America/New_York")->nanos, 5);
  EXPECT_EQ(ToUtc({noon, 0}, "UTC")->seconds, noon);
  // Clocks show 01:30 twice on 2024-11-03; the first is meant.
  const int64_t twice = ParseTimestamp("2024-11-03 01:30")->instant.seconds;
  EXPECT_EQ(ToUtc({twice, 0}, "America/New_York")->seconds, twice + 4 * 3600);
  EXPECT_FALSE(ToUtc({noon, 0}, "Nowhere/At_All").ok());
}

}  // namespace
}  // namespace kinjo::predicate
