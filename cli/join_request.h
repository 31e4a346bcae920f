// Flags turned into a join: `join` and `explain` begin the same way.
#pragma once

#include "flags.h"
#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// A join that is made, or how the command ends without one (already told).
struct JoinRequest {
  std::optional<Join> join;
  int exit_code = 0;
};

/// The options that the flags give.
JoinOptions OptionsOf(const Flags& flags);

/// Checks the flags, opens the left table and makes the join.
JoinRequest MakeJoin(const char* command, const Flags& flags);
/// The same with options that aren't all the flags'.
JoinRequest MakeJoin(const char* command, const Flags& flags, const JoinOptions& options);

}  // namespace kinjo::cli
