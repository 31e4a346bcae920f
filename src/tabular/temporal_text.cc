#include "tabular/temporal_text.h"

#include <algorithm>

namespace kinjo::tabular {

namespace {

constexpr int64_t kSecondsPerDay = 86400;

struct UnitSize {
  int64_t per_second;
  int digits;
};

UnitSize SizeOf(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return {1, 0};
    case arrow::TimeUnit::MILLI:
      return {1000, 3};
    case arrow::TimeUnit::MICRO:
      return {1000000, 6};
    case arrow::TimeUnit::NANO:
      break;
  }
  return {1000000000, 9};
}

void AppendPadded(int64_t value, size_t digits, std::string* out) {
  const std::string text = std::to_string(value);
  out->append(digits - std::min(digits, text.size()), '0');
  out->append(text);
}

// Division that rounds down, so that times before 1970 have a fraction from 0 up.
int64_t FloorDivide(int64_t value, int64_t by) {
  const int64_t quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}

}  // namespace

void AppendDate(int64_t days_since_1970, std::string* out) {
  // The Gregorian calendar repeats after 400 years of 146,097 days. Years are counted from the
  // first of March, so that the leap day is the last of its year, and the days before a month
  // follow (153 m + 2) / 5.
  const int64_t days = days_since_1970 + 719468;  // since 0000-03-01
  const int64_t era = FloorDivide(days, 146097);
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  if (year < 0 || year > 9999) out->push_back(year < 0 ? '-' : '+');
  AppendPadded(year < 0 ? -year : year, 4, out);
  out->push_back('-');
  AppendPadded(month, 2, out);
  out->push_back('-');
  AppendPadded(day, 2, out);
}

void AppendTimeOfDay(int64_t value, arrow::TimeUnit::type unit, std::string* out) {
  const UnitSize size = SizeOf(unit);
  const int64_t seconds = value / size.per_second;
  AppendPadded(seconds / 3600, 2, out);
  out->push_back(':');
  AppendPadded(seconds / 60 % 60, 2, out);
  out->push_back(':');
  AppendPadded(seconds % 60, 2, out);
  if (size.digits == 0) return;
  out->push_back('.');
  AppendPadded(value % size.per_second, static_cast<size_t>(size.digits), out);
}

void AppendTimestamp(int64_t value, arrow::TimeUnit::type unit, bool utc, std::string* out) {
  const UnitSize size = SizeOf(unit);
  const int64_t per_day = kSecondsPerDay * size.per_second;
  const int64_t days = FloorDivide(value, per_day);
  AppendDate(days, out);
  out->push_back('T');
  AppendTimeOfDay(value - days * per_day, unit, out);
  if (utc) out->push_back('Z');
}

}  // namespace kinjo::tabular
