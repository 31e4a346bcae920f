// What a build of an index did, as JSON; and the texts that travel between the processes of a build
// in several: its model, and each segment on its way to who commits it.
#pragma once

#include <string>

#include "base/error.h"
#include "dataset/index_build.h"
#include "dataset/index_optimize.h"
#include "dataset/index_segment.h"

namespace kinjo::capi {

std::string DescribeCreated(const dataset::CreatedIndex& created);
std::string DescribeOptimized(const dataset::OptimizedIndex& optimized);

std::string ModelText(const dataset::IndexModel& model);
/// `invalid` where ModelText didn't write it.
arrow::Result<dataset::IndexModel> ReadModelText(const std::string& text);

std::string SegmentText(const dataset::IndexSegment& segment);
/// `invalid` where SegmentText didn't write it.
arrow::Result<dataset::IndexSegment> ReadSegmentText(const std::string& text);

}  // namespace kinjo::capi
