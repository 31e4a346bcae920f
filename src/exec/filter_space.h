// Where the filter kernel works for true vectors: l2 relative to a common centre (so that data far
// from the origin keeps its digits in float32), cosine on unit vectors, dot as they are.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "exec/exact_rows.h"
#include "exec/query_rows.h"
#include "exec/row_groups.h"
#include "kernels/block_scan.h"
#include "kernels/metric.h"

namespace kinjo::exec {

/// One metric, and the centre that rows and queries are moved by. Immutable.
struct FilterSpace {
  kernels::Metric metric = kernels::Metric::kL2;
  int64_t dim = 0;
  std::vector<float> centre;        ///< empty for dot
  std::vector<double> centre_wide;  ///< the same numbers

  /// The centre is the mean of the rows that can match. Any centre gives the same answer; a near
  /// one lets fewer rows through.
  static FilterSpace Around(kernels::Metric metric, const ExactRows& rows, int64_t dim);
};

/// A block of queries in a space.
struct MovedQueries {
  std::vector<float> values;   ///< [num_queries][dim]
  std::vector<double> norms2;  ///< squared length of each
  std::vector<uint32_t> ids;   ///< 0, 1, 2, ...

  void Reset(int64_t num_queries, int64_t dim);
  /// Moves query `i`; different queries may be moved from different threads.
  void Move(const FilterSpace& space, const QueryRows& queries, int64_t i);
};

/// A block of true rows ready to scan: those that can match, grouped, with their addresses.
class RowBlock {
 public:
  /// `addresses` belong to all rows of `rows`.
  void Fill(const FilterSpace& space, ExactRows rows, const std::vector<uint64_t>& addresses);

  /// The same without grouping the rows: for KnnVectorDistance::ScorePairs alone.
  void FillUngrouped(ExactRows rows, const std::vector<uint64_t>& addresses);

  /// The same for the rows of some groups alone (`wanted`, rising, each once), one group after
  /// another.
  void FillByGroup(const FilterSpace& space, ExactRows rows, const std::vector<uint64_t>& addresses,
                   const RowGroups& groups, std::span<const uint32_t> wanted);

  const ExactRows& exact() const { return exact_; }
  const kernels::GroupedRows& grouped() const { return grouped_; }
  const std::vector<uint64_t>& addresses() const { return addresses_; }
  /// The slots [first, last) of a group; after FillByGroup.
  std::pair<int64_t, int64_t> slots_of(uint32_t group) const;
  /// Rows that can match.
  int64_t num_rows() const { return static_cast<int64_t>(addresses_.size()); }
  /// Which row of exact() lies in `slot`.
  uint32_t row_of(int64_t slot) const { return row_of_slot_[slot]; }

 private:
  void KeepMatchable(ExactRows rows, const std::vector<uint64_t>& addresses);
  void StoreRow(const FilterSpace& space, int64_t slot);
  /// The rows divided by their lengths, float rows of cosine.
  void StoreUnits(const FilterSpace& space);
  void StoreRows(const FilterSpace& space);

  ExactRows exact_;
  kernels::GroupedRows grouped_;
  std::vector<uint64_t> addresses_;
  std::vector<uint32_t> row_of_slot_;
  std::vector<uint32_t> group_of_slot_;  // rising; after FillByGroup
  std::vector<double> unit_;
  std::vector<float> moved_;  // a group's rows, one after another
};

}  // namespace kinjo::exec
