// The one place that judges options. Everything that can be said without looking at a row is
// checked here, and refused with the option's name, its value and the bound.
#pragma once

#include <string>

#include "base/error.h"
#include "join/options.h"

namespace kinjo::join {

/// Largest k, refine_factor and k * refine_factor.
inline constexpr int64_t kCandidatesMax = 1 << 24;
inline constexpr int64_t kThreadsMax = 1024;

/// Checks the options by themselves, before either side is looked at.
arrow::Status ValidateOptions(const JoinOptions& options);

/// Checks what depends on whether the join is a self-join: of one table with itself by one column.
/// `why_not` tells what speaks against that, "" = it is one.
arrow::Status ValidatePairs(const JoinOptions& options, const std::string& why_not);

/// Checks what depends on whether an index answers: `fast_search` needs one.
arrow::Status ValidatePath(const JoinOptions& options, bool uses_index, const std::string& reason);

}  // namespace kinjo::join
