#include "exec/byte_rows_scan.h"

#include <algorithm>
#include <limits>
#include <span>

#include "exec/block_filter.h"

namespace kinjo::exec {

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Groups between two looks at the thresholds, a multiple of 3 as the kernel likes it. While a query
// lets everything through the first chunk is short, and each next one twice as long.
constexpr int64_t kChunkGroups = 6;
constexpr int64_t kFirstChunkGroups = 3;
// Groups between two looks at the cancel flag.
constexpr int64_t kGroupsPerCheck = 1024;
// Rows that tell a first bound: most partitions whole.
constexpr int64_t kSeedGroups = 96;
// Heaps that are fetched ahead of their turn.
constexpr size_t kPushesAhead = 16;

/// One tile of queries against the rows of the partition.
class Tile {
 public:
  Tile(const PartitionVisit& visit, const index::DecodedPartition& rows,
       std::span<const uint32_t> query_ids, ByteScratch* scratch, NeighborHeaps* heaps)
      : queries_(*visit.queries),
        rows_(rows),
        query_ids_(query_ids),
        scratch_(scratch),
        heaps_(heaps),
        per_unit_((1 + 0x1p-22) / rows.byte_unit) {}

  /// Gives the queries that hold nothing yet a threshold from the rows themselves.
  void Seed();
  arrow::Result<int64_t> Scan(const base::CancelToken& cancel);

 private:
  float Distance(int32_t l2) const { return static_cast<float>(l2 * rows_.byte_unit); }
  void Pack(std::span<const uint32_t> query_ids);
  /// The largest squared difference that may be reported as `threshold`, or a little more.
  int32_t BoundOf(float threshold) const;
  /// True while some query lets everything through.
  bool SetBounds();
  void Push(std::span<const kernels::ByteHit> hits);

  const index::QueryBlock& queries_;
  const index::DecodedPartition& rows_;
  const std::span<const uint32_t> query_ids_;
  ByteScratch* const scratch_;
  NeighborHeaps* const heaps_;
  const double per_unit_;
};

void Tile::Pack(std::span<const uint32_t> query_ids) {
  scratch_->queries.Reset(static_cast<int64_t>(query_ids.size()), queries_.dim);
  for (size_t i = 0; i < query_ids.size(); ++i) {
    scratch_->queries.Set(static_cast<int64_t>(i), queries_.query_bytes(query_ids[i]));
  }
}

void Tile::Seed() {
  if (heaps_->range().lower != -kInfinity) return;  // k rows might be nearer than the range
  const int64_t groups = std::min(kSeedGroups, rows_.bytes.num_groups());
  // Twice as many classes as rows are wanted: few of the nearest share one.
  const int64_t k = heaps_->k();
  const int64_t sets =
      std::max<int64_t>(2, (2 * k + kernels::kGroupRows - 1) / kernels::kGroupRows);
  const int64_t classes = sets * kernels::kGroupRows;
  if (groups < sets || classes * static_cast<int64_t>(query_ids_.size()) > kChunkPairsMax) return;
  std::vector<uint32_t>& filling = scratch_->filling;
  filling.clear();
  for (const uint32_t id : query_ids_) {
    if (heaps_->filling(id)) filling.push_back(id);
  }
  if (filling.empty()) return;
  Pack(filling);
  scratch_->minima.resize(filling.size() * static_cast<size_t>(classes));
  kernels::LeastBytes(
      {.rows = &rows_.bytes, .queries = &scratch_->queries, .first_group = 0, .num_groups = groups},
      sets, scratch_->minima.data());
  for (size_t i = 0; i < filling.size(); ++i) {
    // Of the k nearest so many may not come out.
    const int64_t rank = k - 1 + heaps_->excluded_rows(filling[i]);
    if (k == 0 || rank >= classes) continue;
    int32_t* minima = scratch_->minima.data() + static_cast<int64_t>(i) * classes;
    std::nth_element(minima, minima + rank, minima + classes);
    if (minima[rank] == std::numeric_limits<int32_t>::max()) continue;
    heaps_->LowerThreshold(filling[i], Distance(minima[rank]));
  }
}

int32_t Tile::BoundOf(float threshold) const {
  const int32_t largest = kernels::LargestByteL2(queries_.dim);
  if (!(threshold >= 0)) return -1;
  // A reported distance is rounded to float32, by half a unit of 2^-23 at most.
  const double l2 = threshold * per_unit_ + 1;
  return l2 < largest ? static_cast<int32_t>(l2) : largest;  // also where the unit is 0
}

bool Tile::SetBounds() {
  bool filling = false;
  for (size_t i = 0; i < query_ids_.size(); ++i) {
    const float threshold = heaps_->threshold(query_ids_[i]);
    scratch_->queries.SetBound(static_cast<int64_t>(i), BoundOf(threshold));
    filling |= heaps_->filling(query_ids_[i]);
  }
  return filling;
}

void Tile::Push(std::span<const kernels::ByteHit> hits) {
  for (size_t i = 0; i < hits.size(); ++i) {
    const size_t later = std::min(i + kPushesAhead, hits.size() - 1);
    heaps_->Prefetch(query_ids_[hits[later].query]);
    heaps_->Push(query_ids_[hits[i].query], {Distance(hits[i].l2), rows_.addresses[hits[i].row]});
  }
}

arrow::Result<int64_t> Tile::Scan(const base::CancelToken& cancel) {
  Pack(query_ids_);
  const int64_t num_groups = rows_.bytes.num_groups();
  const auto num_queries = static_cast<int64_t>(query_ids_.size());
  const int64_t room = num_queries * kChunkGroups * kernels::kGroupRows;
  if (scratch_->hits_room < room) {
    scratch_->hits = std::make_unique_for_overwrite<kernels::ByteHit[]>(static_cast<size_t>(room));
    scratch_->hits_room = room;
  }
  int64_t survivors = 0;
  int64_t chunk = 0;
  int64_t unchecked = 0;
  for (int64_t done = 0; done < num_groups;) {
    if (unchecked >= kGroupsPerCheck) {
      ARROW_RETURN_NOT_OK(cancel.Check());
      unchecked = 0;
    }
    const bool filling = SetBounds();
    if (chunk == 0) chunk = filling ? kFirstChunkGroups : kChunkGroups;
    const int64_t groups = std::min(chunk, num_groups - done);
    const int64_t found = kernels::ScanBytes({.rows = &rows_.bytes,
                                              .queries = &scratch_->queries,
                                              .first_group = done,
                                              .num_groups = groups},
                                             scratch_->hits.get());
    Push({scratch_->hits.get(), static_cast<size_t>(found)});
    survivors += found;
    done += groups;
    unchecked += groups;
    chunk = std::min(2 * chunk, kChunkGroups);
  }
  return survivors;
}

}  // namespace

arrow::Result<int64_t> ScanByteRows(const PartitionVisit& visit,
                                    const index::DecodedPartition& rows,
                                    const base::CancelToken& cancel, ByteScratch* scratch,
                                    NeighborHeaps* heaps) {
  int64_t survivors = 0;
  for (size_t first = 0; first < visit.query_ids.size(); first += kTileQueries) {
    const size_t count = std::min<size_t>(kTileQueries, visit.query_ids.size() - first);
    Tile tile(visit, rows, visit.query_ids.subspan(first, count), scratch, heaps);
    tile.Seed();
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_ASSIGN_OR_RAISE(const int64_t found, tile.Scan(cancel));
    survivors += found;
  }
  return survivors;
}

}  // namespace kinjo::exec
