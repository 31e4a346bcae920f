// What `join` and `search` have in common: a join is made, explained or run, its rows written, and
// at the end it is told how it went.
#pragma once

#include <functional>

#include "flags.h"
#include "join_request.h"

namespace kinjo::cli {

/// What the command and its left rows are called.
struct RunWords {
  const char* command;
  const char* left_row;   ///< "left row", "query"
  const char* left_rows;  ///< "left rows", "queries"
};

/// Runs the whole command and gives its exit code. `make` is called when the flags have been found
/// good.
int RunRequest(const RunWords& words, const Flags& flags, const std::function<JoinRequest()>& make);

/// Prints the plan of a join that is made.
int TellPlan(const char* command, const Flags& flags, const JoinRequest& request);

}  // namespace kinjo::cli
