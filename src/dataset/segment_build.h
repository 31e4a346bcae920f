// The work of a build, from vectors to the files of a segment.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/index_build.h"
#include "dataset/vector_source.h"
#include "format/index_file/index_files.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// What needn't be trained. A quantizer comes with the centroids that it codes beside, if it does.
struct GivenModel {
  std::optional<format::Tensor> centroids;
  std::optional<format::QuantizerModel> quantizer;
};

/// Builds the segment over the vectors of `source`, which is of `dataset`. Bounds of SQ are always
/// those of the vectors.
arrow::Result<BuiltSegment> BuildSegmentFiles(const Dataset& dataset, const VectorSource& source,
                                              const ResolvedParams& params, const GivenModel& given,
                                              const IndexBuildOptions& options);

}  // namespace kinjo::dataset
