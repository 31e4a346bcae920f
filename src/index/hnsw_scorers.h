// Scorers for the search in graphs, one a kind of code. They round to float32 and keep no digits of
// queries far from the origin; what is reported comes from IvfSegment::Distance.
#pragma once

#include <cstdint>
#include <memory>

#include "format/index_file/index_files.h"
#include "index/node_scorer.h"
#include "kernels/metric.h"

namespace kinjo::index {

/// Makes the scorers of one segment. Immutable and thread-safe.
template <typename T>
class ScorerMaker {
 public:
  virtual ~ScorerMaker() = default;
  /// A scorer of one prepared query; `centroid` is that of the partition at hand. All must outlive
  /// the scorer.
  virtual std::unique_ptr<NodeScorer> Make(const T* centroid, const double* query,
                                           const format::PartitionRows& stored) const = 0;
};

/// T is float for float16 and float32 indexes, double for float64. Null where no fast scorer is
/// known: the segment's own distance steers then.
template <typename T>
std::unique_ptr<ScorerMaker<T>> MakeScorerMaker(const format::IndexFiles& files,
                                                kernels::Metric metric);

}  // namespace kinjo::index
