#include "exec/graph_scan.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "dataset/dataset.h"

namespace kinjo::exec {

namespace {

// Where a range bounds the beam, the distances that are reported steer it: by rounded ones, rows
// outside of the range could take the places of rows inside it.
std::unique_ptr<index::NodeScorer> MakeScorer(const PartitionVisit& visit, const double* query,
                                              const DistanceRange& range) {
  const index::IvfSegment& segment = *visit.segment;
  const format::PartitionRows& stored = visit.loaded->stored;
  if (std::isfinite(range.lower) || std::isfinite(range.maximum)) {
    return segment.IvfSegment::MakeScorer(visit.partition, query, stored);
  }
  return segment.MakeScorer(visit.partition, query, stored);
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
  const DistanceRange& range = heaps->range();
  index::HnswQuery query{.graph = &loaded.graph,
                         .addresses = loaded.addresses,
                         .dead = dataset::kDeadRow,
                         .live_nodes = loaded.live_rows,
                         .ef = std::max(ef, heaps->k()),
                         .lower = range.lower,
                         .maximum = range.maximum};
  scratch->rows.codes = loaded.stored.codes;
  scratch->rows.num_stored = loaded.stored.num_rows;
  const int64_t before = scratch->searcher.comparisons();
  for (const uint32_t id : visit.query_ids) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    const double* vector = visit.queries->query(id);
    const auto scorer = MakeScorer(visit, vector, range);
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
