// k-means of bit vectors: a centroid has in each place the bit that most of its rows have, a row
// belongs to the centroid that the fewest bits tell it from. For the partitions of a hamming index.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "index/build_context.h"

namespace kinjo::index {

struct KModesOptions {
  int64_t num_clusters = 1;  ///< at least 1
  int max_iterations = 50;
  uint64_t seed = 0;
};

struct KModesResult {
  std::vector<uint8_t> centroids;  ///< [num_clusters][bytes]
  std::vector<int64_t> sizes;      ///< as KMeansResult's
  double cost = 0;                 ///< mean number of bits that tell a row from its centroid
  int iterations = 0;
};

/// Clusters rows[num_rows][bytes], at least one. A place where as many rows have a 0 as a 1 gets 0;
/// of equally near centroids the first counts. The same result whatever the threads. Fails only by
/// the context's cancel.
arrow::Result<KModesResult> TrainKModes(const uint8_t* rows, int64_t num_rows, int64_t bytes,
                                        const KModesOptions& options, const BuildContext& context);

}  // namespace kinjo::index
