// The C form of a join's options turned into the engine's. Only words are judged here (what isn't a
// metric has no value to hand on); numbers and combinations are the engine's to judge.
#pragma once

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/progress.h"
#include "join/options.h"
#include "kinjo/kinjo.h"

namespace kinjo::capi {

/// `options` null: the defaults.
arrow::Result<join::JoinOptions> ToJoinOptions(const kinjo_join_options* options);

/// How a run is stopped and watched.
struct RunControl {
  base::CancelToken cancel;
  base::ProgressCallback progress;  ///< may be empty
  bool complete = false;            ///< all rows are made before they are read
};
arrow::Result<RunControl> ToRunControl(const kinjo_run_options* options);

}  // namespace kinjo::capi
