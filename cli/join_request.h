// The flags of `join` and `explain` turned into a join: both commands begin the same way.
#pragma once

#include "flags.h"
#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// A join that is made, or how the command ends without one (already told).
struct JoinRequest {
  std::optional<Join> join;
  int exit_code = 0;
};

/// Checks the flags, opens the left table and makes the join.
JoinRequest MakeJoin(const char* command, const Flags& flags);

}  // namespace kinjo::cli
