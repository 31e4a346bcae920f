#include "exec/ann_ivf_batch.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "dataset/kept_partitions.h"
#include "exec/hamming_scan.h"

namespace kinjo::exec {

namespace {

// Rows of a partition, in groups, that a tile scans between two looks at the cancel flag: a
// partition may hold the whole table.
constexpr int64_t kGroupsPerCheck = 1024;

// Elements that a thread holds decoded: of usual partitions, all.
constexpr int64_t kSliceElements = int64_t{4} << 20;

// Queries that a thread takes through a graph at a time: a search costs as much as many scores.
constexpr int64_t kGraphQueries = 4;

// Bytes of neighbouring partitions that are read together.
constexpr int64_t kRunBytesMax = int64_t{1} << 18;

int64_t CountLive(std::span<const uint64_t> addresses) {
  return static_cast<int64_t>(addresses.size()) -
         std::count(addresses.begin(), addresses.end(), dataset::kDeadRow);
}

bool IsFiltered(const AnnIvfBatch::Source& source) {
  return source.mask != nullptr || source.filter != nullptr;
}

/// Drops the rows that the filter doesn't pass.
arrow::Status KeepPassing(const AnnIvfBatch::Source& source, std::vector<uint64_t>* addresses) {
  if (source.mask != nullptr) dataset::KeepMaskedRows(*source.mask, *addresses);
  if (source.filter != nullptr) return source.filter->KeepPassing(*addresses);
  return arrow::Status::OK();
}

/// The partition as an earlier search left it with the dataset, before any filter; null if none
/// did.
std::shared_ptr<const LoadedPartition> FindKept(const AnnIvfBatch::Source& source,
                                                int64_t partition) {
  auto* kept = dataset::KeptPartitions::Of(source.dataset);
  if (kept == nullptr) return nullptr;
  return std::static_pointer_cast<const LoadedPartition>(kept->Find(source.info.uuid, partition));
}

/// Keeps what was read for this run, and for later ones where this one holds it anyway: what a
/// dataset holds never makes a run larger than its plan.
void KeepForAll(const AnnIvfBatch::Source& source, int64_t partition,
                const std::shared_ptr<const LoadedPartition>& loaded, PartitionCache* cache) {
  cache->Keep(source.ordinal, partition, loaded);
  if (IsFiltered(source) || cache->Find(source.ordinal, partition) != loaded) return;
  auto* kept = dataset::KeptPartitions::Of(source.dataset);
  if (kept != nullptr) kept->Keep(source.info.uuid, partition, loaded, loaded->size_bytes());
}

/// Copies the bytes out of those of the run, which would stay as long as one partition is kept.
arrow::Status OwnBytes(format::PartitionRows* rows) {
  for (auto* buffer :
       {&rows->row_ids, &rows->codes, &rows->ex_codes, &rows->add_factors, &rows->scale_factors}) {
    if (*buffer == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(*buffer, (*buffer)->CopySlice(0, (*buffer)->size()));
  }
  return arrow::Status::OK();
}

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
  return Resolve(loaded);
}

arrow::Status AnnIvfBatch::Resolve(LoadedPartition* loaded) const {
  const auto rows = static_cast<size_t>(loaded->stored.num_rows);
  loaded->addresses.resize(rows);
  if (rows > 0) {
    const auto* row_ids = reinterpret_cast<const uint64_t*>(loaded->stored.row_ids->data());
    if (source_.dataset == nullptr) {
      std::copy(row_ids, row_ids + rows, loaded->addresses.begin());
    } else {
      ARROW_RETURN_NOT_OK(
          source_.dataset->ResolveRowIds(source_.info, {row_ids, rows}, loaded->addresses));
    }
  }
  return KeepPassing(source_, &loaded->addresses);
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
  auto before = FindKept(source_, partition);
  if (before != nullptr && !IsFiltered(source_)) {
    // Counted like one that is read: a report doesn't depend on what was searched before.
    auto& count = before->is_skipped ? counters_->partitions_skipped : counters_->partitions_read;
    count.fetch_add(1, std::memory_order_relaxed);
    cache_->Keep(source_.ordinal, partition, before);
    return before;
  }
  if (before != nullptr && !before->is_skipped && !source_.segment->has_graph()) {
    loaded->stored = before->stored;
    loaded->addresses = before->addresses;
    ARROW_RETURN_NOT_OK(KeepPassing(source_, &loaded->addresses));
    Skips(loaded.get());
  } else {
    ARROW_RETURN_NOT_OK(ReadAddresses(partition, loaded.get()));
    ARROW_RETURN_NOT_OK(cancel_.Check());
    if (!Skips(loaded.get())) {
      ARROW_RETURN_NOT_OK(ReadRows(partition, loaded.get()));
      loaded->live_rows = CountLive(loaded->addresses);
    }
  }
  if (wanted_again_) KeepForAll(source_, partition, loaded, cache_);
  return loaded;
}

bool AnnIvfBatch::Skips(LoadedPartition* loaded) const {
  loaded->live_rows = CountLive(loaded->addresses);
  if (loaded->live_rows > 0 || loaded->addresses.empty()) {
    counters_->partitions_read.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  counters_->partitions_skipped.fetch_add(1, std::memory_order_relaxed);
  *loaded = {.is_skipped = true};
  return true;
}

// Not with a filter, which may leave no row of a partition: then its codes aren't read.
std::vector<AnnIvfBatch::Run> AnnIvfBatch::CutRuns(const ProbeList& probes,
                                                   int64_t room_bytes) const {
  const bool pays = source_.mask == nullptr && !source_.segment->has_graph();
  std::vector<Run> runs;
  int64_t run_bytes = kRunBytesMax + 1;
  for (size_t item = 0; item < probes.partitions.size(); ++item) {
    const int64_t partition = probes.partitions[item];
    const auto bytes = static_cast<int64_t>(source_.segment->partition_bytes(partition));
    if (!pays || cache_->Find(source_.ordinal, partition) != nullptr ||
        FindKept(source_, partition) != nullptr) {
      runs.push_back({item, 1});
      run_bytes = kRunBytesMax + 1;
      continue;
    }
    room_bytes -= bytes + static_cast<int64_t>(source_.segment->partition_rows(partition) * 8 +
                                               sizeof(LoadedPartition));
    if (room_bytes < 0) break;
    const bool follows = item > 0 && probes.partitions[item - 1] + 1 == partition;
    if (follows && run_bytes + bytes <= kRunBytesMax) {
      ++runs.back().count;
      run_bytes += bytes;
    } else {
      runs.push_back({item, 1});
      run_bytes = bytes;
    }
  }
  return runs;
}

arrow::Status AnnIvfBatch::LoadNeighbours(const ProbeList& probes) {
  std::vector<Run> runs = CutRuns(probes, cache_->room_bytes());
  std::erase_if(runs, [](const Run& run) { return run.count == 1; });
  return pool_->ParallelFor(static_cast<int64_t>(runs.size()), cancel_, [&](int64_t i, int) {
    const int64_t first = probes.partitions[runs[i].first_item];
    ARROW_ASSIGN_OR_RAISE(const LoadedRun loaded, LoadRun(first, runs[i].count));
    for (size_t at = 0; at < loaded.size(); ++at) {
      KeepForAll(source_, first + static_cast<int64_t>(at), loaded[at], cache_);
    }
    return arrow::Status::OK();
  });
}

arrow::Result<AnnIvfBatch::LoadedRun> AnnIvfBatch::LoadRun(int64_t first, int64_t count) {
  auto run = source_.segment->LoadRun(first, count);
  // Read one by one the partition at fault is named.
  if (!run.ok()) return LoadedRun();
  LoadedRun partitions;
  for (int64_t i = 0; i < count; ++i) {
    auto loaded = std::make_shared<LoadedPartition>();
    loaded->stored = std::move((*run)[i]);
    if (wanted_again_) ARROW_RETURN_NOT_OK(OwnBytes(&loaded->stored));
    ARROW_RETURN_NOT_OK(Resolve(loaded.get()));
    ARROW_RETURN_NOT_OK(cancel_.Check());
    Skips(loaded.get());
    partitions.push_back(std::move(loaded));
  }
  return partitions;
}

int64_t AnnIvfBatch::SliceRows(int64_t dim) {
  const int64_t groups = kSliceElements / (std::max<int64_t>(dim, 1) * kernels::kGroupRows);
  return std::max<int64_t>(groups, 1) * kernels::kGroupRows;
}

int64_t AnnIvfBatch::Decode(const PartitionVisit& visit, size_t num_queries,
                            const NeighborHeaps& heaps, index::DecodedPartition* decoded,
                            std::vector<ExcludedRow>* excluded) const {
  excluded->clear();
  if (visit.live_rows == 0) return 0;
  const LoadedPartition& loaded = *visit.loaded;
  const bool graph = SearchesGraph(loaded, visit.live_rows);
  if (!graph) {
    decoded->make_bytes = true;
    decoded->make_codes = static_cast<int64_t>(num_queries) >= source_.segment->queries_for_codes();
    decoded->first_stored = static_cast<uint64_t>(visit.first_row);
    source_.segment->Decode(visit.partition, loaded.stored, visit.addresses, dataset::kDeadRow,
                            decoded);
  }
  if (heaps.eligibility() != nullptr) {
    *excluded = heaps.eligibility()->FindExcluded(
        graph ? visit.addresses : std::span<const uint64_t>(decoded->addresses));
  }
  return graph ? visit.live_rows : static_cast<int64_t>(decoded->addresses.size());
}

void AnnIvfBatch::CountProbes(const PartitionVisit& visit) {
  counters_->partitions_probed.fetch_add(static_cast<int64_t>(visit.query_ids.size()),
                                         std::memory_order_relaxed);
}

void AnnIvfBatch::CountMet(const PartitionVisit& visit, int64_t rows, NeighborHeaps* heaps) {
  for (const uint32_t id : visit.query_ids) {
    const auto excluded =
        visit.excluded.empty()
            ? 0
            : static_cast<int64_t>(heaps->eligibility()->ExcludedFor(id, visit.excluded).size());
    heaps->CountMet(id, rows - excluded);
  }
}

arrow::Status AnnIvfBatch::Visit(const PartitionVisit& visit,
                                 const index::DecodedPartition& decoded, BatchWorker* worker,
                                 NeighborHeaps* heaps) {
  arrow::Result<int64_t> comparisons = 0;
  if (visit.live_rows == 0) {
    // `decoded` holds another partition.
  } else if (SearchesGraph(*visit.loaded, visit.live_rows)) {
    comparisons = ScanGraph(visit, source_.ef, cancel_, &worker->graph, heaps);
  } else if (source_.segment->metric() == kernels::Metric::kHamming) {
    comparisons = ScanHamming(*visit.queries, visit.query_ids, decoded, cancel_, heaps);
  } else if (decoded.has_bytes) {
    comparisons = ScanByteRows(visit, decoded, cancel_, &worker->bytes, heaps);
  } else {
    comparisons = ScanRows(visit, decoded, worker, heaps);
  }
  ARROW_RETURN_NOT_OK(comparisons.status());
  counters_->index_comparisons.fetch_add(*comparisons, std::memory_order_relaxed);
  return arrow::Status::OK();
}

arrow::Status AnnIvfBatch::VisitSlices(
    const PartitionVisit& visit, index::DecodedPartition* decoded,
    std::vector<ExcludedRow>* excluded, NeighborHeaps* heaps,
    const std::function<arrow::Status(const PartitionVisit&)>& scan) {
  const auto rows = static_cast<int64_t>(visit.addresses.size());
  const bool graph = SearchesGraph(*visit.loaded, visit.live_rows);
  const int64_t step = graph ? rows : SliceRows(source_.segment->dim());
  matching_rows_[visit.partition] = 0;
  int64_t first = 0;
  do {
    PartitionVisit slice = visit;
    slice.first_row = first;
    slice.addresses = visit.addresses.subspan(first, std::min(step, rows - first));
    if (rows > step) slice.live_rows = CountLive(slice.addresses);
    const int64_t matching = Decode(slice, visit.query_ids.size(), *heaps, decoded, excluded);
    slice.excluded = *excluded;
    matching_rows_[visit.partition] += matching;
    CountMet(slice, matching, heaps);
    ARROW_RETURN_NOT_OK(scan(slice));
    first += step;
  } while (first < rows);
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

arrow::Status AnnIvfBatch::VisitGroup(PartitionVisit part,
                                      std::span<const std::pair<uint32_t, uint32_t>> rows,
                                      BatchWorker* worker, NeighborHeaps* heaps) {
  const bool graph = SearchesGraph(*part.loaded, static_cast<int64_t>(rows.size()));
  const auto step = graph ? rows.size() : static_cast<size_t>(SliceRows(source_.segment->dim()));
  const std::span<const uint64_t> addresses = part.addresses;
  part.addresses = worker->group_addresses;
  do {
    const auto slice = rows.first(std::min(step, rows.size()));
    rows = rows.subspan(slice.size());
    for (const auto& [_, row] : slice) worker->group_addresses[row] = addresses[row];
    part.live_rows = static_cast<int64_t>(slice.size());
    const int64_t matching =
        Decode(part, part.query_ids.size(), *heaps, &worker->decoded, &worker->excluded);
    part.excluded = worker->excluded;
    CountMet(part, matching, heaps);
    ARROW_RETURN_NOT_OK(Visit(part, worker->decoded, worker, heaps));
    for (const auto& [_, row] : slice) worker->group_addresses[row] = dataset::kDeadRow;
  } while (!rows.empty());
  return arrow::Status::OK();
}

arrow::Status AnnIvfBatch::VisitGroups(const PartitionVisit& visit, BatchWorker* worker,
                                       NeighborHeaps* heaps) {
  const size_t rows = visit.addresses.size();
  std::vector<uint32_t> groups(rows);
  heaps->groups()->Of(visit.addresses, groups);
  worker->group_rows.clear();
  for (size_t row = 0; row < rows; ++row) {
    if (visit.addresses[row] == dataset::kDeadRow || groups[row] == RowGroups::kNone) continue;
    worker->group_rows.emplace_back(groups[row], static_cast<uint32_t>(row));
  }
  std::sort(worker->group_rows.begin(), worker->group_rows.end());
  worker->group_addresses.assign(rows, dataset::kDeadRow);
  const std::vector<uint32_t>& group_of = heaps->eligibility()->group;
  for (std::span<const uint32_t> rest = visit.query_ids; !rest.empty();) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    const uint32_t group = group_of[rest.front()];
    size_t count = 1;
    while (count < rest.size() && group_of[rest[count]] == group) ++count;
    PartitionVisit part = visit;
    part.query_ids = rest.first(count);
    rest = rest.subspan(count);
    const auto first = std::lower_bound(worker->group_rows.begin(), worker->group_rows.end(),
                                        std::pair(group, uint32_t{0}));
    auto last = first;
    while (last != worker->group_rows.end() && last->first == group) ++last;
    ARROW_RETURN_NOT_OK(VisitGroup(part, {first, last}, worker, heaps));
  }
  return arrow::Status::OK();
}

arrow::Status AnnIvfBatch::ScanPartition(const index::QueryBlock& queries, int64_t partition,
                                         std::span<const uint32_t> query_ids,
                                         const LoadedPartition& loaded, BatchWorker* worker,
                                         NeighborHeaps* heaps) {
  const PartitionVisit visit{.segment = source_.segment.get(),
                             .partition = partition,
                             .loaded = &loaded,
                             .queries = &queries,
                             .query_ids = query_ids,
                             .addresses = loaded.addresses,
                             .live_rows = loaded.live_rows};
  ARROW_RETURN_NOT_OK(cancel_.Check());
  CountProbes(visit);
  if (heaps->groups() != nullptr) return VisitGroups(visit, worker, heaps);
  return VisitSlices(
      visit, &worker->decoded, &worker->excluded, heaps,
      [&](const PartitionVisit& slice) { return Visit(slice, worker->decoded, worker, heaps); });
}

arrow::Status AnnIvfBatch::ScanByPartition(const index::QueryBlock& queries,
                                           const ProbeList& probes, NeighborHeaps* heaps) {
  std::vector<Run> runs;
  if (wanted_again_) {
    ARROW_RETURN_NOT_OK(LoadNeighbours(probes));
    for (size_t item = 0; item < probes.partitions.size(); ++item) runs.push_back({item, 1});
  } else {
    runs = CutRuns(probes, std::numeric_limits<int64_t>::max());
  }
  return pool_->ParallelFor(
      static_cast<int64_t>(runs.size()), cancel_, [&](int64_t i, int id) -> arrow::Status {
        const auto [first, count] = runs[i];
        LoadedRun together;
        if (count > 1) {
          ARROW_ASSIGN_OR_RAISE(together, LoadRun(probes.partitions[first], count));
        }
        for (size_t at = 0; at < static_cast<size_t>(count); ++at) {
          counters_->partitions_started.fetch_add(1, std::memory_order_relaxed);
          const int64_t partition = probes.partitions[first + at];
          std::shared_ptr<const LoadedPartition> loaded;
          if (together.empty()) {
            ARROW_ASSIGN_OR_RAISE(loaded, Load(partition));
          } else {
            loaded = std::move(together[at]);
          }
          ARROW_RETURN_NOT_OK(ScanPartition(queries, partition, probes.queries_of(first + at),
                                            *loaded, &(*workers_)[id], heaps));
        }
        return arrow::Status::OK();
      });
}

arrow::Status AnnIvfBatch::ScanTiles(
    const PartitionVisit& visit, int64_t tile_queries,
    const std::function<arrow::Status(const PartitionVisit&, int)>& scan) {
  const auto num_queries = static_cast<int64_t>(visit.query_ids.size());
  const int64_t tiles = (num_queries + tile_queries - 1) / tile_queries;
  return pool_->ParallelFor(tiles, cancel_, [&](int64_t tile, int id) {
    const int64_t first = tile * tile_queries;
    PartitionVisit part = visit;
    part.query_ids = visit.query_ids.subspan(first, std::min(tile_queries, num_queries - first));
    return scan(part, id);
  });
}

arrow::Status AnnIvfBatch::ScanByQuery(const index::QueryBlock& queries, const ProbeList& probes,
                                       NeighborHeaps* heaps) {
  // Decoded once, by the calling thread, and read by all; of a group by who scans it.
  BatchWorker& shared = (*workers_)[0];
  const bool by_group = heaps->groups() != nullptr;
  std::vector<ExcludedRow> excluded;
  for (size_t i = 0; i < probes.partitions.size(); ++i) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    counters_->partitions_started.fetch_add(1, std::memory_order_relaxed);
    const int64_t partition = probes.partitions[i];
    ARROW_ASSIGN_OR_RAISE(const auto loaded, Load(partition));
    const PartitionVisit whole{.segment = source_.segment.get(),
                               .partition = partition,
                               .loaded = loaded.get(),
                               .queries = &queries,
                               .query_ids = probes.queries_of(i),
                               .addresses = loaded->addresses,
                               .live_rows = loaded->live_rows};
    ARROW_RETURN_NOT_OK(cancel_.Check());
    CountProbes(whole);
    const bool graph = SearchesGraph(*loaded, loaded->live_rows);
    const int64_t tile_queries = graph && !by_group ? kGraphQueries : kTileQueries;
    const auto scan = [&](const PartitionVisit& slice) {
      return ScanTiles(slice, tile_queries, [&](const PartitionVisit& visit, int id) {
        BatchWorker* worker = &(*workers_)[id];
        return by_group ? VisitGroups(visit, worker, heaps)
                        : Visit(visit, shared.decoded, worker, heaps);
      });
    };
    ARROW_RETURN_NOT_OK(by_group ? scan(whole)
                                 : VisitSlices(whole, &shared.decoded, &excluded, heaps, scan));
  }
  return arrow::Status::OK();
}

arrow::Status AnnIvfBatch::VisitAddresses(
    const std::function<void(int64_t, std::span<const uint64_t>)>& visit) {
  return pool_->ParallelFor(source_.segment->num_partitions(), cancel_,
                            [&](int64_t partition, int) {
                              ARROW_ASSIGN_OR_RAISE(const auto loaded, Load(partition));
                              visit(partition, loaded->addresses);
                              return arrow::Status::OK();
                            });
}

arrow::Status AnnIvfBatch::Scan(const index::QueryBlock& queries, const ProbeList& probes,
                                NeighborHeaps* heaps, bool wanted_again) {
  wanted_again_ = wanted_again;
  const auto partitions = static_cast<int64_t>(probes.partitions.size());
  if (SharesPartitions(partitions, pool_->size())) return ScanByQuery(queries, probes, heaps);
  return ScanByPartition(queries, probes, heaps);
}

}  // namespace kinjo::exec
