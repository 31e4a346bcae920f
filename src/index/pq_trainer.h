// Codebooks of a product quantizer: k-means of each sub-vector on its own.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "index/build_context.h"

namespace kinjo::index {

struct PqTraining {
  int64_t num_sub_vectors = 16;  ///< divides dim; even for 4 bits
  int num_bits = 8;              ///< 8 or 4
  int max_iterations = 50;
  uint64_t seed = 0;

  int64_t num_entries() const { return int64_t{1} << num_bits; }
};

/// Trains on rows[num_rows][dim], finite, at least one: the residuals for l2 and cosine, the
/// vectors for dot. Returns [num_sub_vectors][2^num_bits][dim / num_sub_vectors]; where a
/// sub-vector has fewer distinct values, the last entries are copies of earlier ones, which no code
/// names. Takes for each thread the rows of a sub-vector as float, and 16 bytes a row. T is float
/// or double.
template <typename T>
arrow::Result<std::vector<T>> TrainPqCodebook(const T* rows, int64_t num_rows, int64_t dim,
                                              const PqTraining& training,
                                              const BuildContext& context);

}  // namespace kinjo::index
