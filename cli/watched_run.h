// One run of the engine under the program's eyes: progress goes to standard error, and a signal
// stops it in an orderly way.
#pragma once

#include <type_traits>

#include "interrupt.h"
#include "kinjo/kinjo.hpp"
#include "outcome.h"
#include "progress.h"

namespace kinjo::cli {

/// Calls `work` with the options of a watched run and gives its Result, or the error that kept it
/// from beginning. From then on until the program ends, a signal raises the run's cancel flag.
template <typename Work>
auto RunWatched(ProgressKind kind, const Work& work)
    -> std::invoke_result_t<const Work&, const RunOptions&> {
  const Result<const Cancel*> cancel = CancelOnSignal();
  if (!cancel.ok()) return cancel.error();
  ProgressDisplay display(kind);
  const ProgressFunction show = [&](const kinjo_progress& progress) { display.Show(progress); };
  auto done = work(RunOptions{cancel.value(), &show});
  display.End(StateOf(done));
  return done;
}

}  // namespace kinjo::cli
