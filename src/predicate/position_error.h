// Errors that say where in the text of a predicate they lie.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace kinjo::predicate {

/// `invalid`; `position` is the 1-based character of the text.
template <typename... Parts>
arrow::Status InvalidAt(int64_t position, const Parts&... parts) {
  return base::Invalid("predicate, character ", position, ": ", parts...);
}

}  // namespace kinjo::predicate
