#include "predicate/cast_value.h"

#include <utility>

#include "arrow/compute/api_scalar.h"
#include "arrow/compute/cast.h"
#include "arrow/util/checked_cast.h"
#include "predicate/evaluate.h"
#include "predicate/value_type.h"

namespace kinjo::predicate {

namespace {

using arrow::Datum;
using arrow::compute::CastOptions;
using arrow::internal::checked_cast;

arrow::Result<Datum> CastWith(const Datum& value, const CastOptions& options) {
  return CallArrow("cast", {value}, &options);
}

int32_t ScaleOf(const arrow::DataType& type) {
  return checked_cast<const arrow::DecimalType&>(type).scale();
}

/// By way of a decimal that holds every integer at this scale: Arrow refuses by type, not value.
arrow::Result<Datum> IntegerToDecimal(const Datum& value, const TypePtr& to) {
  constexpr int32_t kMaximumPrecision = 76;
  constexpr int32_t kIntegerDigits = 20;
  if (ScaleOf(*to) + kIntegerDigits > kMaximumPrecision)
    return CastWith(value, CastOptions::Safe(to));
  const TypePtr wide = arrow::decimal256(kMaximumPrecision, ScaleOf(*to));
  ARROW_ASSIGN_OR_RAISE(const Datum decimal, CastWith(value, CastOptions::Safe(wide)));
  return CastWith(decimal, CastOptions::Safe(to));
}

arrow::Result<Datum> RoundDecimal(const Datum& value, const TypePtr& to) {
  if (ScaleOf(*value.type()) <= ScaleOf(*to)) return value;
  const arrow::compute::RoundOptions options(ScaleOf(*to),
                                             arrow::compute::RoundMode::HALF_TOWARDS_INFINITY);
  return CallArrow("round", {value}, &options);
}

}  // namespace

arrow::Result<Datum> CastValue(const Datum& value, const TypePtr& to) {
  const arrow::DataType& from = *value.type();
  if (from.Equals(*to)) return value;
  CastOptions options = CastOptions::Safe(to);
  options.allow_time_truncate = true;
  if (IsInteger(from) && IsFloat(*to)) {
    options.allow_float_truncate = true;
    return CastWith(value, options);
  }
  if (IsInteger(from) && IsDecimal(*to)) return IntegerToDecimal(value, to);
  if ((IsFloat(from) || IsDecimal(from)) && IsInteger(*to)) {
    ARROW_ASSIGN_OR_RAISE(const Datum whole, CallArrow("trunc", {value}));
    return CastWith(whole, options);
  }
  if (IsDecimal(from) && IsDecimal(*to)) {
    ARROW_ASSIGN_OR_RAISE(const Datum rounded, RoundDecimal(value, to));
    return CastWith(rounded, options);
  }
  return CastWith(value, options);
}

bool CastCanFail(const TypePtr& from, const TypePtr& to) {
  if (IsNumber(*from) && IsFloat(*to)) return false;
  if (IsText(*from) && IsText(*to)) return false;
  if (IsInteger(*from) && IsNumber(*to)) return !CommonType(from, to)->Equals(*to);
  return from->id() != arrow::Type::NA;
}

}  // namespace kinjo::predicate
