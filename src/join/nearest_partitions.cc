#include "join/nearest_partitions.h"

#include <algorithm>
#include <memory>

#include "base/thread_pool.h"
#include "exec/ann_ivf_partition.h"
#include "join/left_block.h"
#include "join/plan.h"

namespace kinjo::join {

namespace {

std::shared_ptr<index::IvfSegment> LargestSegment(const ChosenIndex& chosen) {
  std::shared_ptr<index::IvfSegment> largest;
  for (const auto& segment : chosen.segments) {
    if (largest == nullptr || segment->num_partitions() > largest->num_partitions()) {
      largest = segment;
    }
  }
  return largest;
}

// Of each query.
arrow::Result<std::vector<int32_t>> Ranked(const std::shared_ptr<index::IvfSegment>& segment,
                                           const exec::QueryRows& queries, base::ThreadPool* pool,
                                           const base::CancelToken& cancel) {
  std::vector<double> bytes;
  if (queries.values.empty()) bytes.assign(queries.bytes.begin(), queries.bytes.end());
  exec::AnnIvfPartition ranker(segment, pool, cancel);
  const std::vector<double>& vectors = queries.values.empty() ? bytes : queries.values;
  ARROW_RETURN_NOT_OK(ranker.Start(vectors, /*k=*/1, {.nprobes = 1, .any_order = true}));
  std::vector<exec::Probe> probes;
  ranker.FirstRound(0, 1, &probes);
  std::vector<int32_t> partitions(static_cast<size_t>(queries.num_queries), -1);
  for (const exec::Probe& probe : probes) {
    partitions[probe.query] = static_cast<int32_t>(probe.partition);
  }
  return partitions;
}

}  // namespace

arrow::Result<std::vector<int32_t>> NearestPartitions(const JoinPlan& plan,
                                                      const base::CancelToken& cancel) {
  const auto segment = plan.uses_index() ? LargestSegment(*plan.choice.index) : nullptr;
  base::ThreadPool pool(plan.threads);
  ARROW_ASSIGN_OR_RAISE(const auto reader, LeftReader::Open(plan, nullptr, LeftParts::kVectors));
  std::vector<int32_t> nearest;
  LeftBlock block;
  while (true) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_RETURN_NOT_OK(reader->Next(&block));
    if (block.num_rows == 0) return nearest;
    const size_t first = nearest.size();
    nearest.resize(first + static_cast<size_t>(block.num_rows), -1);
    if (segment == nullptr || plan.multivector() || block.queries.num_queries == 0) continue;
    ARROW_ASSIGN_OR_RAISE(const auto ranked, Ranked(segment, block.queries, &pool, cancel));
    for (size_t row = 0; row < block.query_of_row.size(); ++row) {
      const int32_t query = block.query_of_row[row];
      if (query >= 0) nearest[first + row] = ranked[query];
    }
  }
}

}  // namespace kinjo::join
