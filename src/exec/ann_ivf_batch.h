// ANNIvfBatch: the partition-major scan of one index segment. Probes are inverted to (partition ->
// queries); each partition is read, resolved and decoded once, and scored for all its queries, or
// its graph is searched for each of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "exec/ann_ivf_partition.h"
#include "exec/block_filter.h"
#include "exec/byte_rows_scan.h"
#include "exec/graph_scan.h"
#include "exec/neighbor_heaps.h"
#include "exec/partition_cache.h"
#include "index/ivf_segment.h"

namespace kinjo::exec {

/// Probes by partition: queries[offsets[i], offsets[i + 1]) visit partitions[i].
struct ProbeList {
  std::vector<uint32_t> partitions;  ///< rising
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> queries;

  static ProbeList Invert(std::span<const Probe> probes, int64_t num_partitions);
  std::span<const uint32_t> queries_of(size_t i) const {
    return {queries.data() + offsets[i], static_cast<size_t>(offsets[i + 1] - offsets[i])};
  }
};

/// What the scans of all segments did so far. Any thread.
struct BatchCounters {
  std::atomic<int64_t> partitions_read{0};  ///< whole
  std::atomic<int64_t> partitions_skipped{
      0};  ///< no row could match: their row ids alone were read
  std::atomic<int64_t> partitions_probed{0};
  std::atomic<int64_t> index_comparisons{0};
  std::atomic<int64_t> partitions_started{0};
};

/// Tells which rows of a partition pass a filter, when the partition is read. Thread-safe.
class PartitionFilter {
 public:
  virtual ~PartitionFilter() = default;
  /// Replaces the addresses of rows that don't pass by dataset::kDeadRow.
  virtual arrow::Status KeepPassing(std::span<uint64_t> addresses) const = 0;
};

/// Buffers of one thread of the pool; the segments of a run share them.
struct BatchWorker {
  std::vector<float> moved;
  std::vector<double> norms2;
  FilterScratch filter;
  ByteScratch bytes;
  index::DecodedPartition decoded;
  GraphScratch graph;
  std::vector<ExcludedRow> excluded;
  /// Of a partition whose queries are kept to groups: its live rows by group, and the addresses of
  /// one group's rows among dead ones.
  std::vector<std::pair<uint32_t, uint32_t>> group_rows;
  std::vector<uint64_t> group_addresses;
};

/// One segment, ready for one probe list after another. Not thread-safe; spreads its own work.
class AnnIvfBatch {
 public:
  struct Source {
    std::shared_ptr<index::IvfSegment> segment;
    const dataset::Dataset* dataset = nullptr;  ///< null: row ids are addresses of live rows
    dataset::IndexSegmentInfo info;
    size_t ordinal = 0;                            ///< of the segment in the run, for the cache
    std::shared_ptr<const dataset::RowMask> mask;  ///< rows that a filter passes; null = no filter
    /// Instead of a mask; null = no filter.
    std::shared_ptr<const PartitionFilter> filter;
    int64_t ef = 0;  ///< breadth of a search in a graph; never less than a heap holds
  };

  /// `workers` holds an entry for each thread of the pool, and outlives the scans.
  AnnIvfBatch(Source source, PartitionCache* cache, BatchCounters* counters, base::ThreadPool* pool,
              base::CancelToken cancel, std::vector<BatchWorker>* workers);

  /// Scores every live row of every probed partition, or, where the heaps keep queries to groups,
  /// those of the query's group, as a filter for that group would.
  /// Partitions that aren't `wanted_again` by this run are read, scored and let go, neighbours
  /// together: what is written to the same memory again and again stays in the cache.
  arrow::Status Scan(const index::QueryBlock& queries, const ProbeList& probes,
                     NeighborHeaps* heaps, bool wanted_again = true);

  /// Calls visit(partition, addresses of its rows) for every partition, from many threads; a row
  /// that isn't live or doesn't pass has dataset::kDeadRow.
  arrow::Status VisitAddresses(
      const std::function<void(int64_t, std::span<const uint64_t>)>& visit);

  /// Rows of a partition that are decoded at a time, at most, of `dim` elements: a partition may
  /// hold the whole table.
  static int64_t SliceRows(int64_t dim);

  /// How many partitions of a segment are loaded and decoded at a time, at most.
  static int64_t PartitionsAtOnce(int64_t num_partitions, int64_t threads) {
    return SharesPartitions(num_partitions, threads) ? 1 : threads;
  }

  /// Rows of a partition that were scored; it must have been scanned, and not by group.
  int64_t matching_rows(int64_t partition) const { return matching_rows_[partition]; }

 private:
  /// With fewer partitions than keep the threads busy, the threads share each one.
  static bool SharesPartitions(int64_t num_partitions, int64_t threads) {
    return threads > 1 && num_partitions < 4 * threads;
  }
  arrow::Result<std::shared_ptr<const LoadedPartition>> Load(int64_t partition);
  /// Reads neighbours among the probed partitions together, as far as they aren't kept yet and can
  /// be kept.
  arrow::Status LoadNeighbours(const ProbeList& probes);
  /// Partitions of a probe list that follow each other.
  struct Run {
    size_t first_item;
    int64_t count;
  };
  /// Cuts the list into runs that are read together, until `room_bytes` are taken. Partitions that
  /// are kept already, and all where that can't pay, are runs of one.
  std::vector<Run> CutRuns(const ProbeList& probes, int64_t room_bytes) const;
  using LoadedRun = std::vector<std::shared_ptr<const LoadedPartition>>;
  /// Empty if reading fails.
  arrow::Result<LoadedRun> LoadRun(int64_t first, int64_t count);
  /// Maps the row ids to addresses of rows that may match.
  arrow::Status Resolve(LoadedPartition* loaded) const;
  /// Counts the live rows and the partition; forgets it and is true where it has rows and none may
  /// match.
  bool Skips(LoadedPartition* loaded) const;
  /// The steps of Load: row ids and addresses, then the rest, unless no row is left.
  arrow::Status ReadAddresses(int64_t partition, LoadedPartition* loaded) const;
  arrow::Status ReadRows(int64_t partition, LoadedPartition* loaded) const;
  arrow::Status NamePartition(int64_t partition, const arrow::Status& failed) const;
  /// Decodes the rows that may match unless a graph is searched, and finds those that single
  /// queries exclude. Gives how many may match.
  int64_t Decode(const PartitionVisit& visit, size_t num_queries, const NeighborHeaps& heaps,
                 index::DecodedPartition* decoded, std::vector<ExcludedRow>* excluded) const;
  arrow::Status Visit(const PartitionVisit& visit, const index::DecodedPartition& decoded,
                      BatchWorker* worker, NeighborHeaps* heaps);
  /// Calls scan(slice) for the slices of a visit, one where a graph is searched: each is decoded
  /// into `decoded`, with the rows that single queries exclude in `excluded`, and what its queries
  /// met is counted.
  arrow::Status VisitSlices(const PartitionVisit& visit, index::DecodedPartition* decoded,
                            std::vector<ExcludedRow>* excluded, NeighborHeaps* heaps,
                            const std::function<arrow::Status(const PartitionVisit&)>& scan);
  /// Visits for queries of one group, whose rows are `rows`, by group and stored row: as many at a
  /// time as a slice takes. worker->group_addresses has dead rows only, before and afterwards.
  arrow::Status VisitGroup(PartitionVisit part, std::span<const std::pair<uint32_t, uint32_t>> rows,
                           BatchWorker* worker, NeighborHeaps* heaps);
  /// Visits for one group of queries after another.
  arrow::Status VisitGroups(const PartitionVisit& visit, BatchWorker* worker, NeighborHeaps* heaps);
  void CountProbes(const PartitionVisit& visit);
  static void CountMet(const PartitionVisit& visit, int64_t rows, NeighborHeaps* heaps);
  /// Scores the decoded rows; returns how many survived the filter.
  arrow::Result<int64_t> ScanRows(const PartitionVisit& visit,
                                  const index::DecodedPartition& decoded, BatchWorker* worker,
                                  NeighborHeaps* heaps);
  arrow::Status ScanByPartition(const index::QueryBlock& queries, const ProbeList& probes,
                                NeighborHeaps* heaps);
  arrow::Status ScanPartition(const index::QueryBlock& queries, int64_t partition,
                              std::span<const uint32_t> query_ids, const LoadedPartition& loaded,
                              BatchWorker* worker, NeighborHeaps* heaps);
  /// Calls scan(visit for some of the queries, thread) for all of them, on all threads.
  arrow::Status ScanTiles(const PartitionVisit& visit, int64_t tile_queries,
                          const std::function<arrow::Status(const PartitionVisit&, int)>& scan);
  arrow::Status ScanByQuery(const index::QueryBlock& queries, const ProbeList& probes,
                            NeighborHeaps* heaps);

  Source source_;
  PartitionCache* cache_;
  BatchCounters* counters_;
  base::ThreadPool* pool_;
  base::CancelToken cancel_;
  std::vector<BatchWorker>* workers_;
  bool wanted_again_ = true;            // what the scan at hand reads
  std::vector<int64_t> matching_rows_;  // of each partition scanned so far
};

}  // namespace kinjo::exec
