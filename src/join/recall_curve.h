// The whole curve of a join: what each setting finds of a sample of the left rows, how fast, and
// what it reads. For people who choose by themselves, or want to see why a target costs what it
// costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "join/probe_curve.h"
#include "join/recall_estimate.h"

namespace kinjo::join {

struct JoinPlan;

/// One setting, searched.
struct CurvePoint {
  ProbeSettings settings;
  RecallEstimate recall;     ///< of rows that chose nothing
  double queries_per_s = 0;  ///< of the sample as one block; a larger join shares more
  int64_t bytes_read = 0;
  int64_t partitions_probed = 0;  ///< (left row, partition) pairs
  int64_t partitions_read = 0;
  bool pick = false;  ///< what the target asks for
};

struct RecallCurve {
  std::string path;  ///< "index" or "exact"
  std::string index_name;
  std::string index_type;
  std::string metric;
  int64_t k = 0;
  double target = 1;
  int64_t left_rows = -1;  ///< -1: not known
  int64_t choosing_rows = 0;
  std::vector<CurvePoint> points;  ///< by probes, refine factor, ef
};

/// Requires: the plan has a recall target. Reads left rows; on the exact path the curve is a point.
arrow::Result<RecallCurve> MeasureCurve(const JoinPlan& plan, const base::CancelToken& cancel);

}  // namespace kinjo::join
