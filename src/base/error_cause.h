// An error that another one followed: what failed, and what failed while cleaning up after it.
#pragma once

#include "base/error.h"

namespace kinjo::base {

/// The same error (code, message, path, offset), with `cause` to be had beside it. Requires: both
/// failed.
arrow::Status WithCause(const arrow::Status& status, const arrow::Status& cause);

/// The cause that WithCause gave, or OK.
arrow::Status CauseOf(const arrow::Status& status);

/// The detail that says code, path and offset, behind a cause too; null when Arrow made the status.
const ErrorDetail* DetailOf(const arrow::Status& status);

}  // namespace kinjo::base
