// One function a command, each in its own file. They give the program's exit code.
#pragma once

#include "flags.h"
#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// Requires: WatchSignals watches for `cancel`.
int RunJoin(const Flags& flags, const Cancel& cancel);
int RunExplain(const Flags& flags);
int RunInfo(const Flags& flags);

}  // namespace kinjo::cli
