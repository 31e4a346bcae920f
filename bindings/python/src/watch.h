// Waiting for native work from Python: the GIL is free meanwhile, Ctrl-C is noticed, and the
// caller's progress function is called, all on the thread that waits. Work's own threads never
// want the GIL for these, so a caller that holds it can't stop them.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "aside.h"
#include "errors.h"
#include "kinjo/kinjo.h"
#include "process.h"

namespace kinjo::python {

inline constexpr std::chrono::milliseconds kLookUpEvery{20};

/// One run's flag to stop it, the progress that it told last, and who wants to know it. Kept alive
/// by whoever runs, until the run is over.
class Watch {
 public:
  /// `progress` is a function of (done_rows, total_rows or None, elapsed_s, rows_per_s, remaining_s
  /// or None), or None. Requires the GIL, as the destructor does.
  static std::shared_ptr<Watch> Make(nanobind::object progress);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// What the run is given. Borrows from here.
  kinjo_run_options Options();
  void Cancel() const { kinjo_cancel_raise(cancel_); }
  bool is_cancelled() const { return kinjo_cancel_is_raised(cancel_); }
  /// True when a wait must look up now and then: on the main thread, or to tell progress.
  bool looks_up() const;
  /// True when the last look-up was a while ago, also where work is quick and often.
  bool looks_up_now() const {
    return std::chrono::steady_clock::now() - looked_up_ >= kLookUpEvery;
  }
  /// Looks for signals and tells progress; false with a Python error set when either raised.
  /// Requires the GIL.
  bool LookUp();

 private:
  explicit Watch(nanobind::object progress) : progress_(std::move(progress)) {}

  nanobind::object progress_;
  kinjo_cancel* cancel_ = nullptr;
  std::mutex mutex_;
  std::optional<kinjo_progress> told_;  // and not yet passed on
  std::chrono::steady_clock::time_point looked_up_ = std::chrono::steady_clock::now();
};

/// Remembers the thread that Python runs signal handlers on. Called once, at import.
void SetMainThread();

/// Runs `call`, a `bool()`, without the GIL, which this thread holds or not. When a look-up raised,
/// the work is stopped and waited for, and what was raised is left in `raised`.
/// Returns what `call` gave.
template <typename Call>
bool Await(Watch* watch, const Call& call, std::optional<nanobind::python_error>* raised) {
  const AtWork at_work;
  PyThreadState* held = PyGILState_Check() ? PyEval_SaveThread() : nullptr;
  bool done_well = false;
  if (!watch->looks_up()) {
    done_well = call();
  } else {
    std::future<bool> done = RunAside(call);
    for (bool ready = false; !ready;) {
      ready = done.wait_for(kLookUpEvery) == std::future_status::ready;
      if (raised->has_value() || !watch->looks_up_now()) continue;
      const PyGILState_STATE state = PyGILState_Ensure();
      if (!watch->LookUp()) {
        raised->emplace();  // takes the error that is set
        watch->Cancel();
      }
      PyGILState_Release(state);
    }
    done_well = done.get();
  }
  if (held != nullptr) PyEval_RestoreThread(held);
  return done_well;
}

/// Runs a long C call, `bool(kinjo_error**)`, from a thread that holds the GIL, and raises what it
/// fails with, or what stopped it.
template <typename Call>
void Long(Watch* watch, const Call& call) {
  kinjo_error* error = nullptr;
  std::optional<nanobind::python_error> raised;
  const bool done_well = Await(watch, [&] { return call(&error); }, &raised);
  if (raised.has_value()) {
    if (!done_well) kinjo_error_free(error);
    throw *std::move(raised);
  }
  if (!done_well) RaiseFailure(Failure::Take(error));
  if (!watch->LookUp()) throw nanobind::python_error();  // the last progress
}

/// Runs a C call that may touch files, without the GIL, on this thread.
template <typename Work>
void Call(const Work& work) {
  kinjo_error* error = nullptr;
  bool done_well = false;
  {
    const AtWork at_work;
    const nanobind::gil_scoped_release released;
    done_well = work(&error);
  }
  if (PyErr_CheckSignals() != 0) {
    if (!done_well) kinjo_error_free(error);
    throw nanobind::python_error();
  }
  if (!done_well) RaiseFailure(Failure::Take(error));
}

}  // namespace kinjo::python
