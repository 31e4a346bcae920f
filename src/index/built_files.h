// An index segment that was never a file: rows of memory trained, coded and gathered by partition,
// to be searched like any other. What a run uses that wants an index where there is none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "index/build_context.h"
#include "index/column_vectors.h"
#include "index/ivf_segment.h"
#include "index/model_trainer.h"

namespace kinjo::index {

/// Rows to index, borrowed for the call; `row_ids` are parallel to the vectors.
struct VectorsWithIds {
  ColumnVectors vectors;
  std::span<const uint64_t> row_ids;
};

/// Trains on a sample of `rows`, all of one type and width, at least one piece of them (which may
/// be empty), and codes them all: an index without a graph, held in memory. Options as
/// TrainModel's, which are checked. Takes, until it is done, the sample and twice the codes;
/// afterwards the codes and the model (its size: SegmentBytes).
arrow::Result<std::shared_ptr<IvfSegment>> BuildSegment(std::span<const VectorsWithIds> rows,
                                                        const TrainingOptions& options,
                                                        const BuildContext& context);

/// The segment of a model and its partitions, in memory; parallel to the model's partitions.
arrow::Result<std::shared_ptr<IvfSegment>> MakeSegmentInMemory(
    format::IvfModel ivf, format::QuantizerModel quantizer,
    std::vector<format::PartitionRows> partitions);

/// About what an index of `num_rows` such rows takes in memory: row ids, codes and centroids.
int64_t SegmentBytes(const TrainingOptions& options, format::ElementType type, int64_t dim,
                     int64_t num_rows);

}  // namespace kinjo::index
