#include "predicate/temporal_literal.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>

#include "arrow/compute/api_scalar.h"
#include "arrow/util/checked_cast.h"
#include "predicate/evaluate.h"

namespace kinjo::predicate {

namespace {

constexpr int64_t kSecondsOfDay = 86'400;
constexpr int64_t kNanosOfSecond = 1'000'000'000;

/// Reads exactly `count` digits off the front.
bool TakeNumber(std::string_view* text, size_t count, int* value) {
  if (text->size() < count) return false;
  *value = 0;
  for (const char c : text->substr(0, count)) {
    if (c < '0' || c > '9') return false;
    *value = *value * 10 + (c - '0');
  }
  text->remove_prefix(count);
  return true;
}

bool TakeCharacter(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

struct TimeOfDay {
  int64_t seconds = 0;
  int32_t nanos = 0;
  int digits = 0;
};

/// ".123": one to nine digits.
bool TakeFraction(std::string_view* text, TimeOfDay* time) {
  const auto end =
      std::find_if(text->begin(), text->end(), [](char c) { return c < '0' || c > '9'; });
  const auto digits = static_cast<size_t>(end - text->begin());
  if (digits == 0 || digits > 9) return false;
  std::string padded(text->substr(0, digits));
  text->remove_prefix(digits);
  time->digits = static_cast<int>(padded.find_last_not_of('0') + 1);
  padded.resize(9, '0');
  std::from_chars(padded.data(), padded.data() + padded.size(), time->nanos);
  return true;
}

bool TakeTimeOfDay(std::string_view* text, TimeOfDay* time) {
  int hour = 0;
  int minute = 0;
  int second = 0;
  if (!TakeNumber(text, 2, &hour) || !TakeCharacter(text, ':')) return false;
  if (!TakeNumber(text, 2, &minute)) return false;
  if (TakeCharacter(text, ':')) {
    if (!TakeNumber(text, 2, &second)) return false;
    if (TakeCharacter(text, '.') && !TakeFraction(text, time)) return false;
  }
  time->seconds = hour * 3600 + minute * 60 + second;
  return hour < 24 && minute < 60 && second < 60;
}

/// "Z", "+02" or "-02:30", as seconds east.
bool TakeOffset(std::string_view* text, int64_t* offset) {
  if (TakeCharacter(text, 'Z') || TakeCharacter(text, 'z')) return true;
  const bool west = !text->empty() && text->front() == '-';
  if (!west && !text->starts_with('+')) return false;
  text->remove_prefix(1);
  int hour = 0;
  int minute = 0;
  if (!TakeNumber(text, 2, &hour)) return false;
  TakeCharacter(text, ':');
  if (!text->empty() && !TakeNumber(text, 2, &minute)) return false;
  *offset = (hour * 3600 + minute * 60) * (west ? -1 : 1);
  return hour < 24 && minute < 60;
}

int64_t UnitsOfSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1'000;
    case arrow::TimeUnit::MICRO:
      return 1'000'000;
    case arrow::TimeUnit::NANO:
      break;
  }
  return kNanosOfSecond;
}

Instant FromUnits(int64_t value, int64_t units_of_second) {
  Instant instant{value / units_of_second, 0};
  int64_t rest = value % units_of_second;
  if (rest < 0) {
    rest += units_of_second;
    --instant.seconds;
  }
  instant.nanos = static_cast<int32_t>(rest * (kNanosOfSecond / units_of_second));
  return instant;
}

}  // namespace

std::optional<TemporalText> ParseTimestamp(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  if (!TakeNumber(&text, 4, &year) || !TakeCharacter(&text, '-')) return std::nullopt;
  if (!TakeNumber(&text, 2, &month) || !TakeCharacter(&text, '-')) return std::nullopt;
  if (!TakeNumber(&text, 2, &day)) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!date.ok()) return std::nullopt;
  TemporalText parsed;
  parsed.instant.seconds = std::chrono::sys_days(date).time_since_epoch().count() * kSecondsOfDay;
  parsed.date_only = text.empty();
  if (parsed.date_only) return parsed;
  if (!TakeCharacter(&text, 'T') && !TakeCharacter(&text, 't') && !TakeCharacter(&text, ' '))
    return std::nullopt;
  TimeOfDay time;
  if (!TakeTimeOfDay(&text, &time)) return std::nullopt;
  parsed.instant.seconds += time.seconds;
  parsed.instant.nanos = time.nanos;
  parsed.digits = time.digits;
  if (text.empty()) return parsed;
  TakeCharacter(&text, ' ');
  int64_t offset = 0;
  if (!TakeOffset(&text, &offset) || !text.empty()) return std::nullopt;
  parsed.zoned = true;
  parsed.instant.seconds -= offset;
  return parsed;
}

std::optional<int64_t> ParseTimeOfDay(std::string_view text) {
  TimeOfDay time;
  if (!TakeTimeOfDay(&text, &time) || !text.empty()) return std::nullopt;
  return time.seconds * kNanosOfSecond + time.nanos;
}

Instant InstantOf(const arrow::Scalar& scalar) {
  using arrow::internal::checked_cast;
  if (scalar.type->id() == arrow::Type::DATE32) {
    return {checked_cast<const arrow::Date32Scalar&>(scalar).value * kSecondsOfDay, 0};
  }
  if (scalar.type->id() == arrow::Type::DATE64)
    return FromUnits(checked_cast<const arrow::Date64Scalar&>(scalar).value, 1'000);
  const auto& type = checked_cast<const arrow::TimestampType&>(*scalar.type);
  return FromUnits(checked_cast<const arrow::TimestampScalar&>(scalar).value,
                   UnitsOfSecond(type.unit()));
}

arrow::Result<Instant> ToUtc(const Instant& wall, const std::string& zone) {
  // The usual zone needs no database of zones on the machine.
  if (zone == "UTC" || zone == "Etc/UTC" || zone == "Z" || zone == "+00:00") return wall;
  namespace compute = arrow::compute;
  const compute::AssumeTimezoneOptions options(
      zone, compute::AssumeTimezoneOptions::AMBIGUOUS_EARLIEST,
      compute::AssumeTimezoneOptions::NONEXISTENT_EARLIEST);
  const arrow::Datum seconds(std::make_shared<arrow::TimestampScalar>(
      wall.seconds, arrow::timestamp(arrow::TimeUnit::SECOND)));
  ARROW_ASSIGN_OR_RAISE(const arrow::Datum utc, CallArrow("assume_timezone", {seconds}, &options));
  return Instant{arrow::internal::checked_cast<const arrow::TimestampScalar&>(*utc.scalar()).value,
                 wall.nanos};
}

}  // namespace kinjo::predicate
