// k-means: few vectors that many lie near to. Trains the centroids of partitions and the codebooks
// of product quantizers.
//
// Seeds are drawn by distance from a part of the rows (kmeans_seeds.h) and improved there first, so
// that all rows are passed only as often as it takes to settle; thousands of clusters are found in
// two levels. Every number that decides anything is a canonical distance or a sum in a fixed order:
// the result depends on the rows, their order and the options, never on threads or the SIMD level.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "index/build_context.h"
#include "index/nearest_vectors.h"

namespace kinjo::index {

struct KMeansOptions {
  int64_t num_clusters = 1;  ///< at least 1
  /// kDot: spherical; centroids are unit vectors, a row belongs to the one of the largest product.
  Nearness nearness = Nearness::kL2;
  int max_iterations = 50;  ///< passes over all rows, at most; at least 1
  /// Settled once a pass lowers the cost by less than this part of it.
  double tolerance = 5e-4;
  uint64_t seed = 0;
};

struct KMeansResult {
  std::vector<float> centroids;  ///< [num_clusters][dim]
  /// Rows nearest to each centroid. 0 where there are fewer distinct rows than clusters (or
  /// max_iterations left no time): then the centroid is the copy of an earlier one that has rows.
  std::vector<int64_t> sizes;
  /// Mean over the rows of the squared distance to the centroid (kDot: of |x| - c.x).
  double cost = 0;
  int iterations = 0;  ///< passes over all rows

  double imbalance() const;
  int64_t empty_clusters() const;
};

/// How unequal the sizes are: 1 = all alike, sizes.size() = all in one. What a probe of a random
/// row's cluster costs, relative to equal clusters.
double Imbalance(const std::vector<int64_t>& sizes);

/// Clusters rows[num_rows][dim], finite, at least one. Rows far from the origin should be moved to
/// it first. Takes about num_rows * 16 bytes and, for thousands of clusters, a copy of the rows.
/// Fails only by `cancel`.
arrow::Result<KMeansResult> TrainKMeans(const float* rows, int64_t num_rows, int64_t dim,
                                        const KMeansOptions& options, const BuildContext& context);

}  // namespace kinjo::index
