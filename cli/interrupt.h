// Signals turned into an orderly end: Ctrl-C and SIGTERM raise the run's cancel flag, so that the
// engine stops and removes what it has half-written; a second one ends the program at once. A
// closed pipe does the same and is then passed over in silence.
#pragma once

#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// Watches the signals from now on. `cancel` must live until the program ends.
void WatchSignals(const Cancel* cancel);

/// SIGTERM came.
bool Terminated();
/// Whoever read our standard output (or standard error) closed it.
bool ReaderLeft();

}  // namespace kinjo::cli
