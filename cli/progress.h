// Progress of a run on standard error: a bar that redraws itself on a terminal, or one JSON object
// a line for programs, or nothing.
#pragma once

#include <string>

#include "kinjo/kinjo.hpp"

namespace kinjo::cli {

enum class ProgressKind { kBar, kJson, kNone };

/// Show is called from one thread at a time.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(ProgressKind kind);

  void Show(const kinjo_progress& progress);
  /// The last of it: wipes the bar, so that what comes next begins on a clean line; programs get a
  /// last object with `state`, the word for how the run ended.
  void End(const char* state);

 private:
  std::string Bar(double fraction) const;
  std::string Line(const kinjo_progress& progress) const;

  const ProgressKind kind_;
  const bool unicode_;
  bool drawn_ = false;
  kinjo_progress last_{};
};

}  // namespace kinjo::cli
