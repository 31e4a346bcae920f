// The left vectors of one block that can match anything, one after another.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/metric.h"

namespace kinjo::exec {

/// Every query is finite, and for cosine not zero.
struct QueryRows {
  kernels::Metric metric = kernels::Metric::kL2;
  int64_t num_queries = 0;
  int64_t dim = 0;
  std::vector<double> values;  ///< [num_queries][dim]; empty for hamming
  std::vector<double> norms;   ///< Euclidean length of each query; cosine only
  std::vector<uint8_t> bytes;  ///< [num_queries][dim]; hamming only

  const double* query(int64_t i) const { return values.data() + i * dim; }
  const uint8_t* query_bytes(int64_t i) const { return bytes.data() + i * dim; }
};

}  // namespace kinjo::exec
