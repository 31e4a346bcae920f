// The model of a vector index, learnt from a sample of the column: centroids of the partitions and
// what the quantizer needs. Given centroids or a given codebook take the place of what would be
// trained.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "index/build_context.h"
#include "index/column_vectors.h"
#include "kernels/metric.h"

namespace kinjo::index {

struct TrainingOptions {
  std::string index_type = "IVF_FLAT";  ///< as ParseIndexKind reads it
  kernels::Metric metric = kernels::Metric::kL2;
  int64_t num_partitions = 1;
  int64_t num_sub_vectors = 0;  ///< PQ: divides the width; even for 4 bits
  int num_bits = 8;             ///< PQ: 8 or 4. RQ: 1 to 9. SQ: 8
  bool transposed = true;       ///< PQ and RQ: codes in the layout that Lance writes by default
  int64_t sample_rate = 256;    ///< rows a partition, and a codebook entry, are trained on
  int max_iterations = 50;
  uint64_t seed = 0;
  std::optional<format::Tensor> centroids;  ///< [num_partitions, dim] of the column's type
  /// PQ: num_sub_vectors * 2^num_bits rows of dim / num_sub_vectors elements of the column's type,
  /// sub-vector after sub-vector.
  std::optional<format::Tensor> codebook;
};

/// Refuses as `invalid`, by name, value and bound, what can't be built for vectors of this type and
/// width; as `not_supported` a kind and metric that don't go together.
arrow::Status CheckTrainingOptions(const TrainingOptions& options, format::ElementType type,
                                   int64_t dim);

/// How many rows of the column to draw (SamplePositions) for training; all where it has no more. 0
/// where everything is given.
int64_t TrainingRows(const TrainingOptions& options, int64_t num_rows);

struct TrainedModel {
  format::IvfModel ivf;  ///< all but offsets; lengths holds a 0 for each partition
  format::QuantizerModel quantizer;
  int64_t trained_rows = 0;  ///< of the sample that could be used
  LeftOutRows left_out;      ///< the others
  double cost = 0;           ///< KMeansResult::cost; 0 for given centroids
  double imbalance = 1;      ///< KMeansResult::imbalance
  int64_t empty_partitions = 0;
  int iterations = 0;
};

/// Trains on the sample, whose order matters to nothing but the bits of the result. A sample
/// without a usable row gives a model of zeros, which codes the rows that may come later badly but
/// validly. Takes, beside the sample, its rows as float and what TrainKMeans does. Requires:
/// CheckTrainingOptions.
arrow::Result<TrainedModel> TrainModel(const ColumnVectors& sample, const TrainingOptions& options,
                                       const BuildContext& context);

}  // namespace kinjo::index
