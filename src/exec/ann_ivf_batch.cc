#include "exec/ann_ivf_batch.h"

#include <algorithm>

#include "exec/hamming_scan.h"

namespace kinjo::exec {

namespace {

// Making a partition's bytes costs about as much as scanning its floats for ten queries.
constexpr size_t kQueriesForCodes = 12;

// Rows of a partition, in groups, that a tile scans between two looks at the cancel flag: a
// partition may hold the whole table.
constexpr int64_t kGroupsPerCheck = 1024;

// Queries that a thread takes through a graph at a time: a search costs as much as many scores.
constexpr int64_t kGraphQueries = 4;

/// Scores survivors by the segment's own routine.
class IndexScorer final : public SurvivorScorer {
 public:
  IndexScorer(const index::IvfSegment& segment, int64_t partition, const index::QueryBlock& queries,
              const index::DecodedPartition& rows)
      : segment_(segment), partition_(partition), queries_(queries), rows_(rows) {}

  void Score(std::span<const kernels::Hit> hits, const uint32_t* query_ids,
             float* distances) const override {
    for (size_t i = 0; i < hits.size(); ++i) {
      distances[i] = segment_.Distance(partition_, queries_.query(query_ids[hits[i].query]), rows_,
                                       hits[i].row);
    }
  }

 private:
  const index::IvfSegment& segment_;
  const int64_t partition_;
  const index::QueryBlock& queries_;
  const index::DecodedPartition& rows_;
};

}  // namespace

ProbeList ProbeList::Invert(std::span<const Probe> probes, int64_t num_partitions) {
  ProbeList out;
  std::vector<uint64_t> begins(static_cast<size_t>(num_partitions) + 1, 0);
  for (const Probe& probe : probes) ++begins[probe.partition + 1];
  out.offsets.push_back(0);
  for (int64_t p = 0; p < num_partitions; ++p) {
    if (begins[p + 1] > 0) {
      out.partitions.push_back(static_cast<uint32_t>(p));
      out.offsets.push_back(out.offsets.back() + begins[p + 1]);
    }
    begins[p + 1] += begins[p];
  }
  out.queries.resize(probes.size());
  for (const Probe& probe : probes) out.queries[begins[probe.partition]++] = probe.query;
  return out;
}

AnnIvfBatch::AnnIvfBatch(Source source, PartitionCache* cache, BatchCounters* counters,
                         base::ThreadPool* pool, base::CancelToken cancel,
                         std::vector<BatchWorker>* workers)
    : source_(std::move(source)),
      cache_(cache),
      counters_(counters),
      pool_(pool),
      cancel_(std::move(cancel)),
      workers_(workers) {
  matching_rows_.assign(static_cast<size_t>(source_.segment->num_partitions()), 0);
}

arrow::Status AnnIvfBatch::NamePartition(int64_t partition, const arrow::Status& failed) const {
  return failed.WithMessage("partition ", partition, " of index segment ", source_.info.uuid, ": ",
                            failed.message());
}

arrow::Status AnnIvfBatch::ReadAddresses(int64_t partition, LoadedPartition* loaded) const {
  auto stored = source_.segment->LoadRowIds(partition);
  if (!stored.ok()) return NamePartition(partition, stored.status());
  loaded->stored = std::move(stored).ValueUnsafe();
  const auto rows = static_cast<size_t>(loaded->stored.num_rows);
  loaded->addresses.resize(rows);
  if (rows > 0) {
    const auto* row_ids = reinterpret_cast<const uint64_t*>(loaded->stored.row_ids->data());
    ARROW_RETURN_NOT_OK(
        source_.dataset->ResolveRowIds(source_.info, {row_ids, rows}, loaded->addresses));
  }
  if (source_.mask != nullptr) dataset::KeepMaskedRows(*source_.mask, loaded->addresses);
  return arrow::Status::OK();
}

arrow::Status AnnIvfBatch::ReadRows(int64_t partition, LoadedPartition* loaded) const {
  const arrow::Status read = source_.segment->LoadCodes(partition, &loaded->stored);
  if (!read.ok()) return NamePartition(partition, read);
  ARROW_RETURN_NOT_OK(cancel_.Check());
  if (!source_.segment->has_graph()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(loaded->graph, source_.segment->LoadGraph(partition));
  ARROW_RETURN_NOT_OK(cancel_.Check());
  source_.segment->DropUnmatchable(loaded->stored, loaded->addresses, dataset::kDeadRow);
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<const LoadedPartition>> AnnIvfBatch::Load(int64_t partition) {
  if (auto kept = cache_->Find(source_.ordinal, partition)) return kept;
  auto loaded = std::make_shared<LoadedPartition>();
  ARROW_RETURN_NOT_OK(ReadAddresses(partition, loaded.get()));
  ARROW_RETURN_NOT_OK(cancel_.Check());
  const std::vector<uint64_t>& addresses = loaded->addresses;
  const auto count_live = [&] {
    return static_cast<int64_t>(addresses.size()) -
           std::count(addresses.begin(), addresses.end(), dataset::kDeadRow);
  };
  if (!addresses.empty() && count_live() == 0) {
    counters_->partitions_skipped.fetch_add(1, std::memory_order_relaxed);
    *loaded = {.is_skipped = true};
  } else {
    ARROW_RETURN_NOT_OK(ReadRows(partition, loaded.get()));
    counters_->partitions_read.fetch_add(1, std::memory_order_relaxed);
    loaded->live_rows = count_live();
  }
  cache_->Keep(source_.ordinal, partition, loaded);
  return loaded;
}

void AnnIvfBatch::Decode(int64_t partition, const LoadedPartition& loaded, size_t num_queries,
                         index::DecodedPartition* decoded) {
  matching_rows_[partition] = loaded.live_rows;
  if (loaded.is_skipped || SearchesGraph(loaded)) return;
  decoded->make_codes = num_queries >= kQueriesForCodes;
  source_.segment->Decode(partition, loaded.stored, loaded.addresses, dataset::kDeadRow, decoded);
  matching_rows_[partition] = static_cast<int64_t>(decoded->addresses.size());
}

arrow::Status AnnIvfBatch::Visit(const PartitionVisit& visit,
                                 const index::DecodedPartition& decoded, BatchWorker* worker,
                                 NeighborHeaps* heaps) {
  arrow::Result<int64_t> comparisons = 0;
  if (visit.loaded->is_skipped) {
    // `decoded` holds another partition.
  } else if (SearchesGraph(*visit.loaded)) {
    comparisons = ScanGraph(visit, source_.ef, cancel_, &worker->graph, heaps);
  } else if (source_.segment->metric() == kernels::Metric::kHamming) {
    comparisons = ScanHamming(*visit.queries, visit.query_ids, decoded, cancel_, heaps);
  } else {
    comparisons = ScanRows(visit, decoded, worker, heaps);
  }
  ARROW_RETURN_NOT_OK(comparisons.status());
  counters_->index_comparisons.fetch_add(*comparisons, std::memory_order_relaxed);
  counters_->partitions_probed.fetch_add(static_cast<int64_t>(visit.query_ids.size()),
                                         std::memory_order_relaxed);
  return arrow::Status::OK();
}

arrow::Result<int64_t> AnnIvfBatch::ScanRows(const PartitionVisit& visit,
                                             const index::DecodedPartition& decoded,
                                             BatchWorker* worker, NeighborHeaps* heaps) {
  const index::QueryBlock& queries = *visit.queries;
  const std::span<const uint32_t> query_ids = visit.query_ids;
  const int64_t partition = visit.partition;
  const index::IvfSegment& segment = *source_.segment;
  const int64_t dim = segment.dim();
  const IndexScorer scorer(segment, partition, queries, decoded);
  worker->moved.resize(static_cast<size_t>(kTileQueries * dim));
  worker->norms2.resize(kTileQueries);
  int64_t survivors = 0;
  for (size_t first = 0; first < query_ids.size(); first += kTileQueries) {
    const auto count =
        static_cast<int64_t>(std::min<size_t>(kTileQueries, query_ids.size() - first));
    const uint32_t* ids = query_ids.data() + first;
    for (int64_t i = 0; i < count; ++i) {
      float* moved = worker->moved.data() + i * dim;
      worker->norms2[i] = segment.MoveQuery(partition, queries.query(ids[i]), decoded, moved);
    }
    const QueryTile tile{.num_queries = count,
                         .moved = worker->moved.data(),
                         .norms2 = worker->norms2.data(),
                         .query_ids = ids};
    const int64_t groups = decoded.rows.num_groups();
    for (int64_t group = 0; group < groups; group += kGroupsPerCheck) {
      ARROW_RETURN_NOT_OK(cancel_.Check());
      const RowRange range{.rows = &decoded.rows,
                           .addresses = decoded.addresses.data(),
                           .first_group = group,
                           .num_groups = std::min(kGroupsPerCheck, groups - group)};
      survivors += FilterTile(segment.metric(), tile, range, scorer, heaps, &worker->filter);
    }
  }
  return survivors;
}

arrow::Status AnnIvfBatch::ScanByPartition(const index::QueryBlock& queries,
                                           const ProbeList& probes, NeighborHeaps* heaps) {
  const auto items = static_cast<int64_t>(probes.partitions.size());
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int id) -> arrow::Status {
    counters_->partitions_started.fetch_add(1, std::memory_order_relaxed);
    const int64_t partition = probes.partitions[item];
    ARROW_ASSIGN_OR_RAISE(const auto loaded, Load(partition));
    BatchWorker& worker = (*workers_)[id];
    const PartitionVisit visit{.segment = source_.segment.get(),
                               .partition = partition,
                               .loaded = loaded.get(),
                               .queries = &queries,
                               .query_ids = probes.queries_of(item)};
    ARROW_RETURN_NOT_OK(cancel_.Check());
    Decode(partition, *loaded, visit.query_ids.size(), &worker.decoded);
    return Visit(visit, worker.decoded, &worker, heaps);
  });
}

arrow::Status AnnIvfBatch::ScanByQuery(const index::QueryBlock& queries, const ProbeList& probes,
                                       NeighborHeaps* heaps) {
  // Decoded once, by the calling thread, and read by all.
  index::DecodedPartition& decoded = (*workers_)[0].decoded;
  for (size_t i = 0; i < probes.partitions.size(); ++i) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    counters_->partitions_started.fetch_add(1, std::memory_order_relaxed);
    const int64_t partition = probes.partitions[i];
    ARROW_ASSIGN_OR_RAISE(const auto loaded, Load(partition));
    const std::span<const uint32_t> ids = probes.queries_of(i);
    ARROW_RETURN_NOT_OK(cancel_.Check());
    Decode(partition, *loaded, ids.size(), &decoded);
    const int64_t tile_queries = SearchesGraph(*loaded) ? kGraphQueries : kTileQueries;
    const int64_t tiles = (static_cast<int64_t>(ids.size()) + tile_queries - 1) / tile_queries;
    ARROW_RETURN_NOT_OK(pool_->ParallelFor(tiles, cancel_, [&](int64_t tile, int id) {
      const auto first = static_cast<size_t>(tile * tile_queries);
      const size_t count = std::min(static_cast<size_t>(tile_queries), ids.size() - first);
      const PartitionVisit visit{.segment = source_.segment.get(),
                                 .partition = partition,
                                 .loaded = loaded.get(),
                                 .queries = &queries,
                                 .query_ids = ids.subspan(first, count)};
      return Visit(visit, decoded, &(*workers_)[id], heaps);
    }));
  }
  return arrow::Status::OK();
}

arrow::Status AnnIvfBatch::Scan(const index::QueryBlock& queries, const ProbeList& probes,
                                NeighborHeaps* heaps) {
  const auto partitions = static_cast<int64_t>(probes.partitions.size());
  if (SharesPartitions(partitions, pool_->size())) return ScanByQuery(queries, probes, heaps);
  return ScanByPartition(queries, probes, heaps);
}

}  // namespace kinjo::exec
