// How far a run is and the flag that stops it, as JavaScript looks at the one and raises the other
// while the run goes on elsewhere.
#pragma once

#include <napi.h>

#include <memory>
#include <mutex>

#include "kinjo/kinjo.h"

namespace kinjo_node {

/// The last progress that a run told. Any thread.
class Told {
 public:
  /// A kinjo_progress_callback; `told` is a Told.
  static void Tell(void* told, const kinjo_progress* progress);
  /// Null before the first. On the loop's thread.
  Napi::Value ToValue(Napi::Env env) const;

 private:
  mutable std::mutex mutex_;  // guards the progress
  kinjo_progress progress_{};
};

/// What a call that takes long is watched by.
class Watch {
 public:
  Watch() { kinjo_cancel_make(&cancel_, nullptr); }
  ~Watch() { kinjo_cancel_free(cancel_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Borrows from this.
  kinjo_run_options Options();
  /// Asks the call to stop. Any thread.
  void Raise() { kinjo_cancel_raise(cancel_); }
  const Told& told() const { return told_; }

 private:
  kinjo_cancel* cancel_ = nullptr;
  Told told_;
};

}  // namespace kinjo_node
