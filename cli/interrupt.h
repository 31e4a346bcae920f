// Signals turned into an orderly end. While a join runs, Ctrl-C and SIGTERM raise its cancel flag,
// so that the engine stops and removes what it has half-written; a second one ends the program at
// once. A closed pipe does the same and is then passed over in silence. Outside a run nothing is
// half-written, and the program ends right away.
#pragma once

#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

/// Watches the signals from now on.
void WatchSignals();
/// The cancel flag that a signal raises from now on until the program ends.
Result<const Cancel*> CancelOnSignal();

/// SIGTERM came.
bool Terminated();
/// Whoever read our standard output (or standard error) closed it.
bool ReaderLeft();

}  // namespace kinjo::cli
