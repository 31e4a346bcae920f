// Dates, times and timestamps as written in a predicate, exact to the nanosecond.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "arrow/scalar.h"
#include "arrow/type.h"
#include "base/error.h"

namespace kinjo::predicate {

/// A point in time, or of the wall clock where there is no zone. Any timestamp of Arrow fits.
struct Instant {
  int64_t seconds = 0;  ///< since 1970
  int32_t nanos = 0;    ///< 0 to 999'999'999
};

struct TemporalText {
  Instant instant;         ///< in UTC when `zoned`
  bool zoned = false;      ///< the text ended in Z or an offset
  bool date_only = false;  ///< no time of day was written
  int digits = 0;          ///< of the fraction of a second, trailing zeros not counted
};

/// "2024-02-29", perhaps with "T" or a space, "23:59[:59[.123456789]]" and "Z", "+02" or "+02:00".
/// Nothing when it is no such text or no such day.
std::optional<TemporalText> ParseTimestamp(std::string_view text);

/// "23:59[:59[.123456789]]" as nanoseconds since midnight.
std::optional<int64_t> ParseTimeOfDay(std::string_view text);

/// Value of a date or timestamp that isn't null.
Instant InstantOf(const arrow::Scalar& scalar);

/// The UTC instant at which the clocks of `zone` show `wall`: the earlier of two; where the clocks
/// were put forward over it, what they would have shown before.
arrow::Result<Instant> ToUtc(const Instant& wall, const std::string& zone);

}  // namespace kinjo::predicate
