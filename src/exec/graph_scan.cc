#include "exec/graph_scan.h"

#include <algorithm>
#include <cmath>

#include "dataset/dataset.h"

namespace kinjo::exec {

namespace {

// The distances that steer a beam are rounded, those that are reported aren't: what lies this near
// to an end of the range is left to the latter.
float SlackAt(float end, kernels::Metric metric) {
  constexpr float kRelative = 1e-4f;
  constexpr float kAbsolute = 1e-5f;  // cosine and dot are differences to 1
  const bool difference = metric == kernels::Metric::kCosine || metric == kernels::Metric::kDot;
  return kRelative * std::abs(end) + (difference ? kAbsolute : 0);
}

}  // namespace

bool SearchesGraph(const LoadedPartition& loaded) {
  return loaded.graph.num_nodes > 0 && loaded.live_rows > 0 &&
         loaded.live_rows >= static_cast<int64_t>(loaded.graph.num_nodes / 10);
}

arrow::Result<int64_t> ScanGraph(const PartitionVisit& visit, int64_t ef,
                                 const base::CancelToken& cancel, GraphScratch* scratch,
                                 NeighborHeaps* heaps) {
  const LoadedPartition& loaded = *visit.loaded;
  const kernels::Metric metric = visit.segment->metric();
  const DistanceRange& range = heaps->range();
  index::HnswQuery query{.graph = &loaded.graph,
                         .addresses = loaded.addresses,
                         .dead = dataset::kDeadRow,
                         .live_nodes = loaded.live_rows,
                         .ef = std::max(ef, heaps->k()),
                         .lower = range.lower - SlackAt(range.lower, metric),
                         .maximum = range.maximum + SlackAt(range.maximum, metric)};
  scratch->rows.codes = loaded.stored.codes;
  scratch->rows.num_stored = loaded.stored.num_rows;
  const int64_t before = scratch->searcher.comparisons();
  for (const uint32_t id : visit.query_ids) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    const double* vector = visit.queries->query(id);
    const auto scorer = visit.segment->MakeScorer(visit.partition, vector, loaded.stored);
    query.scorer = scorer.get();
    scratch->searcher.Search(query, &scratch->found);
    heaps->CountNearer(id, scratch->searcher.nearer());
    scratch->rows.storage_position.swap(scratch->found);
    const std::vector<uint32_t>& found = scratch->rows.storage_position;
    for (size_t i = 0; i < found.size(); ++i) {
      const float distance =
          visit.segment->Distance(visit.partition, vector, scratch->rows, static_cast<int64_t>(i));
      heaps->Push(id, {distance, loaded.addresses[found[i]]});
    }
  }
  scratch->rows.codes.reset();
  return scratch->searcher.comparisons() - before;
}

}  // namespace kinjo::exec
