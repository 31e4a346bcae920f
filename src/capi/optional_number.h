// KINJO_UNSET and std::optional.
#pragma once

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "kinjo/kinjo.h"

namespace kinjo::capi {

/// Nothing for KINJO_UNSET.
inline std::optional<int64_t> OptionalNumber(int64_t number) {
  if (number == KINJO_UNSET) return std::nullopt;
  return number;
}

/// Nothing for KINJO_UNSET. Counts begin at 1.
inline arrow::Result<std::optional<int64_t>> OptionalCount(const char* name, int64_t number) {
  if (number == KINJO_UNSET) return std::nullopt;
  if (number < 1) return base::Invalid(name, " is ", number, "; it must be at least 1");
  return number;
}

/// Nothing for KINJO_UNSET. Versions count from 1.
inline arrow::Result<std::optional<uint64_t>> OptionalVersion(const char* name, int64_t number) {
  if (number == KINJO_UNSET) return std::nullopt;
  if (number < 1) return base::Invalid(name, " is ", number, "; versions count from 1");
  return static_cast<uint64_t>(number);
}

}  // namespace kinjo::capi
