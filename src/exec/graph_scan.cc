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

bool SearchesGraph(const LoadedPartition& loaded, int64_t live_rows) {
  return loaded.graph.num_nodes > 0 && live_rows > 0 &&
         live_rows >= static_cast<int64_t>(loaded.graph.num_nodes / 10);
}

arrow::Result<int64_t> ScanGraph(const PartitionVisit& visit, int64_t ef,
                                 const base::CancelToken& cancel, GraphScratch* scratch,
                                 NeighborHeaps* heaps) {
  const LoadedPartition& loaded = *visit.loaded;
  const DistanceRange& range = heaps->range();
  index::HnswQuery query{.graph = &loaded.graph,
                         .addresses = visit.addresses,
                         .dead = dataset::kDeadRow,
                         .live_nodes = visit.live_rows,
                         .ef = std::max(ef, heaps->k()),
                         .lower = range.lower,
                         .maximum = range.maximum};
  if (!visit.excluded.empty()) {
    scratch->addresses.assign(visit.addresses.begin(), visit.addresses.end());
    query.addresses = scratch->addresses;
  }
  scratch->rows.codes = loaded.stored.codes;
  scratch->rows.num_stored = loaded.stored.num_rows;
  const int64_t before = scratch->searcher.comparisons();
  for (const uint32_t id : visit.query_ids) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    const double* vector = visit.queries->query(id);
    const auto scorer = MakeScorer(visit, vector, range);
    query.scorer = scorer.get();
    const std::span<const ExcludedRow> excluded =
        visit.excluded.empty() ? visit.excluded
                               : heaps->eligibility()->ExcludedFor(id, visit.excluded);
    for (const ExcludedRow& row : excluded) scratch->addresses[row.position] = dataset::kDeadRow;
    query.live_nodes = visit.live_rows - static_cast<int64_t>(excluded.size());
    scratch->searcher.Search(query, &scratch->found);
    for (const ExcludedRow& row : excluded) {
      scratch->addresses[row.position] = visit.addresses[row.position];
    }
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
