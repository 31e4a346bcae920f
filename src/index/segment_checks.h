// What tests ask of any segment, whatever its codes: a partition decoded, and a filter that keeps
// every neighbour.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "index/ivf_segment.h"
#include "kernels/block_scan.h"

namespace kinjo::index {

inline constexpr uint64_t kDead = std::numeric_limits<uint64_t>::max();

/// The row ids of a partition, as stored.
inline std::vector<uint64_t> StoredIds(const IvfSegment& segment, int64_t partition) {
  const format::PartitionRows stored = segment.LoadRowIds(partition).ValueOrDie();
  const auto* row_ids = reinterpret_cast<const uint64_t*>(stored.row_ids->data());
  return {row_ids, row_ids + stored.num_rows};
}

/// Decodes a partition but for the stored rows in `dead`; an address is the row id times ten.
inline DecodedPartition DecodeAll(const IvfSegment& segment, int64_t partition,
                                  const std::vector<int64_t>& dead = {}, bool make_codes = false) {
  const format::PartitionRows stored = segment.Load(partition).ValueOrDie();
  std::vector<uint64_t> addresses = StoredIds(segment, partition);
  for (uint64_t& address : addresses) address *= 10;
  for (const int64_t i : dead) {
    if (i < static_cast<int64_t>(addresses.size())) addresses[i] = kDead;
  }
  DecodedPartition decoded;
  decoded.make_codes = make_codes;
  segment.Decode(partition, stored, addresses, kDead, &decoded);
  return decoded;
}

using QueryAndSlot = std::pair<uint32_t, uint32_t>;

/// What the filter lets through of all rows; `moved` is [num_queries][dim]. Sorted.
inline std::vector<QueryAndSlot> Survivors(const DecodedPartition& decoded,
                                           const std::vector<float>& moved,
                                           const std::vector<float>& bounds) {
  const auto num_queries = static_cast<int64_t>(bounds.size());
  const int64_t groups = decoded.rows.num_groups();
  std::vector<kernels::Hit> hits(static_cast<size_t>(num_queries * groups * kernels::kGroupRows));
  hits.resize(static_cast<size_t>(kernels::ScanBlock({.rows = decoded.rows.rows(),
                                                      .init = decoded.rows.init(),
                                                      .dim = decoded.rows.dim(),
                                                      .first_group = 0,
                                                      .num_groups = groups,
                                                      .queries = moved.data(),
                                                      .bounds = bounds.data(),
                                                      .num_queries = num_queries,
                                                      .codes = decoded.rows.codes()},
                                                     hits.data())));
  std::vector<QueryAndSlot> survivors;
  for (const kernels::Hit& hit : hits) survivors.emplace_back(hit.query, hit.row);
  std::sort(survivors.begin(), survivors.end());
  return survivors;
}

/// What a filter did, of all partitions.
struct FilterCheck {
  int64_t lost = 0;        ///< neighbours that didn't survive: must be 0
  int64_t others_max = 0;  ///< the most other rows a query that survived in a partition, on average
};

/// Scans every partition with the bound of each query's true tenth distance. `vectors` are queries,
/// [any][dim].
inline FilterCheck CheckFilter(const IvfSegment& segment, const std::vector<double>& vectors,
                               bool make_codes) {
  using kernels::Metric;
  FilterCheck check;
  const QueryBlock queries = segment.PrepareQueries(vectors);
  for (int64_t p = 0; p < segment.num_partitions(); ++p) {
    const DecodedPartition decoded = DecodeAll(segment, p, {0, 3}, make_codes);
    const int64_t num_rows = decoded.rows.num_rows();
    if (num_rows == 0) continue;
    std::vector<float> moved(static_cast<size_t>(queries.num_queries * segment.dim()));
    std::vector<float> bounds(static_cast<size_t>(queries.num_queries));
    std::vector<QueryAndSlot> nearest;
    for (int64_t q = 0; q < queries.num_queries; ++q) {
      const double norm2 =
          segment.MoveQuery(p, queries.query(q), decoded, moved.data() + q * segment.dim());
      std::vector<float> distances;
      for (int64_t slot = 0; slot < num_rows; ++slot) {
        distances.push_back(segment.Distance(p, queries.query(q), decoded, slot));
      }
      std::vector<float> sorted = distances;
      std::sort(sorted.begin(), sorted.end());
      const float kth = sorted[std::min<size_t>(9, sorted.size() - 1)];
      const auto bound = segment.metric() == Metric::kDot      ? kernels::DotBound
                         : segment.metric() == Metric::kCosine ? kernels::CosineBound
                                                               : kernels::L2Bound;
      bounds[q] = bound(kth, norm2, segment.dim());
      for (int64_t slot = 0; slot < num_rows; ++slot) {
        if (distances[slot] <= kth) nearest.emplace_back(q, slot);
      }
    }
    const std::vector<QueryAndSlot> survivors = Survivors(decoded, moved, bounds);
    std::vector<QueryAndSlot> kept;
    std::set_intersection(survivors.begin(), survivors.end(), nearest.begin(), nearest.end(),
                          std::back_inserter(kept));
    check.lost += static_cast<int64_t>(nearest.size() - kept.size());
    const auto others = static_cast<int64_t>(survivors.size() - kept.size());
    check.others_max = std::max(check.others_max, others / queries.num_queries);
  }
  return check;
}

}  // namespace kinjo::index
