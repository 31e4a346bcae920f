// Dates and times as ISO 8601.
#pragma once

#include <cstdint>
#include <string>

#include "arrow/type.h"

namespace kinjo::tabular {

/// "2024-02-29"; years outside 0 to 9999 get a sign and at least four digits.
void AppendDate(int64_t days_since_1970, std::string* out);

/// "23:59:59.123": as many digits of a second as the unit has.
void AppendTimeOfDay(int64_t value, arrow::TimeUnit::type unit, std::string* out);

/// "2024-02-29T23:59:59.123", with a Z when `utc`.
void AppendTimestamp(int64_t value, arrow::TimeUnit::type unit, bool utc, std::string* out);

}  // namespace kinjo::tabular
