#include "join/refine.h"

#include <algorithm>

#include "join/column_path.h"

namespace kinjo::join {

namespace {

constexpr int64_t kQueriesPerItem = 128;

// What a thread reads at a time: larger pieces gain nothing, and their memory is touched cold.
constexpr int64_t kChunkBytesMax = int64_t{16} << 20;
constexpr int64_t kChunkRowsMin = 512;

// Candidates looked at to cut the addresses evenly.
constexpr size_t kSampleMax = 1 << 14;

int64_t DimOf(const exec::QueryRows& queries) { return queries.dim; }
int64_t DimOf(const exec::QueryLists& lists) { return lists.dim(); }

}  // namespace

template <typename Rows, typename Queries>
arrow::Status CandidateRefiner<Rows, Queries>::Gather(exec::NeighborHeaps* candidates) {
  addresses_.assign(static_cast<size_t>(candidates->num_queries()), {});
  const int64_t num_queries = candidates->num_queries();
  const int64_t items = (num_queries + kQueriesPerItem - 1) / kQueriesPerItem;
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t end = std::min(num_queries, (item + 1) * kQueriesPerItem);
    for (int64_t query = item * kQueriesPerItem; query < end; ++query) {
      const auto neighbors = candidates->TakeSorted(query);
      std::vector<uint64_t>& addresses = addresses_[query];
      addresses.reserve(neighbors.size());
      for (const kernels::Neighbor& neighbor : neighbors) addresses.push_back(neighbor.address);
      std::sort(addresses.begin(), addresses.end());
    }
    return arrow::Status::OK();
  });
}

template <typename Rows, typename Queries>
std::vector<uint64_t> CandidateRefiner<Rows, Queries>::CutAddresses(int64_t chunk_rows) const {
  size_t total = 0;
  for (const auto& addresses : addresses_) total += addresses.size();
  const size_t step = total / kSampleMax + 1;
  std::vector<uint64_t> sample;
  size_t skip = 0;
  for (const auto& addresses : addresses_) {
    for (; skip < addresses.size(); skip += step) sample.push_back(addresses[skip]);
    skip -= addresses.size();
  }
  std::sort(sample.begin(), sample.end());
  const auto candidates = static_cast<int64_t>(total);
  const int64_t for_threads =
      std::min<int64_t>(4 * pool_->size(), (candidates + kChunkRowsMin - 1) / kChunkRowsMin);
  const int64_t intervals =
      std::max<int64_t>({1, for_threads, (candidates + chunk_rows - 1) / chunk_rows});
  std::vector<uint64_t> cuts;
  for (int64_t i = 1; i < intervals && !sample.empty(); ++i) {
    const uint64_t cut = sample[sample.size() * static_cast<size_t>(i) / intervals];
    if (cut > (cuts.empty() ? 0 : cuts.back())) cuts.push_back(cut);
  }
  return cuts;
}

template <typename Rows, typename Queries>
void CandidateRefiner<Rows, Queries>::CollectInterval(uint64_t first, uint64_t last,
                                                      Worker* worker) const {
  worker->slices.clear();
  worker->distinct.clear();
  for (size_t query = 0; query < addresses_.size(); ++query) {
    const std::vector<uint64_t>& addresses = addresses_[query];
    const auto begin = std::lower_bound(addresses.begin(), addresses.end(), first);
    const auto end = std::upper_bound(begin, addresses.end(), last);
    if (begin == end) continue;
    worker->slices.push_back({static_cast<uint32_t>(query),
                              static_cast<uint32_t>(begin - addresses.begin()),
                              static_cast<uint32_t>(end - addresses.begin())});
    worker->distinct.insert(worker->distinct.end(), begin, end);
  }
  std::sort(worker->distinct.begin(), worker->distinct.end());
  worker->distinct.erase(std::unique(worker->distinct.begin(), worker->distinct.end()),
                         worker->distinct.end());
}

template <typename Rows, typename Queries>
arrow::Result<Rows> CandidateRefiner<Rows, Queries>::ReadRows(const Queries& queries,
                                                              std::span<const uint64_t> addresses) {
  ARROW_ASSIGN_OR_RAISE(const auto batch, plan_.right->Take({plan_.right_vector.root}, addresses));
  if (batch->num_rows() != static_cast<int64_t>(addresses.size())) {
    return base::Internal("refine asked for ", addresses.size(), " rows and got ",
                          batch->num_rows());
  }
  counters_->rows_refined.fetch_add(batch->num_rows(), std::memory_order_relaxed);
  ARROW_ASSIGN_OR_RAISE(const auto vectors, ColumnAt(*batch, plan_.right_vector.name));
  return Rows::Read(plan_.metric(), vectors,
                    {.what = plan_.right_vector.what,
                     .width = DimOf(queries),
                     .expected = plan_.left_vector.what});
}

template <typename Rows, typename Queries>
void CandidateRefiner<Rows, Queries>::ScoreSlice(const Queries& queries, const Rows& rows,
                                                 std::span<const uint64_t> addresses, Slice* slice,
                                                 exec::NeighborHeaps* heaps) {
  constexpr size_t kPairs = 256;
  exec::ScorePair pairs[kPairs];
  float distances[kPairs];
  const std::vector<uint64_t>& own = addresses_[slice->query];
  auto position = addresses.begin();
  while (slice->begin < slice->end && own[slice->begin] <= addresses.back()) {
    size_t count = 0;
    for (; count < kPairs && slice->begin < slice->end; ++slice->begin) {
      position = std::lower_bound(position, addresses.end(), own[slice->begin]);
      if (position == addresses.end()) break;
      const auto row = static_cast<uint32_t>(position - addresses.begin());
      if (rows.can_match(row)) pairs[count++] = {slice->query, row};
    }
    rows.Score(queries, {pairs, count}, distances);
    for (size_t i = 0; i < count; ++i) {
      heaps->Push(slice->query, {distances[i], addresses[pairs[i].row]});
    }
    counters_->exact_comparisons.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  }
}

template <typename Rows, typename Queries>
arrow::Status CandidateRefiner<Rows, Queries>::RefineInterval(const Queries& queries,
                                                              size_t chunk_rows, Worker* worker,
                                                              exec::NeighborHeaps* heaps) {
  std::span<const uint64_t> rest(worker->distinct);
  while (!rest.empty()) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    const std::span<const uint64_t> chunk = rest.first(std::min(chunk_rows, rest.size()));
    rest = rest.subspan(chunk.size());
    ARROW_ASSIGN_OR_RAISE(const Rows rows, ReadRows(queries, chunk));
    for (Slice& slice : worker->slices) ScoreSlice(queries, rows, chunk, &slice, heaps);
  }
  return arrow::Status::OK();
}

template <typename Rows, typename Queries>
arrow::Status CandidateRefiner<Rows, Queries>::Refine(const Queries& queries,
                                                      exec::NeighborHeaps* candidates,
                                                      exec::NeighborHeaps* heaps) {
  const PhaseTimer timer(&counters_->refine_ns);
  ARROW_RETURN_NOT_OK(Gather(candidates));
  // As read, as an array, and widened for scoring.
  const int64_t row_bytes = DimOf(queries) * plan_.row_vectors * 3 * 8;
  const int64_t chunk_bytes = std::min(kChunkBytesMax, plan_.memory.take_bytes / pool_->size());
  const int64_t chunk_rows = std::max(kChunkRowsMin, chunk_bytes / row_bytes);
  const std::vector<uint64_t> cuts = CutAddresses(chunk_rows);
  const auto intervals = static_cast<int64_t>(cuts.size()) + 1;
  return pool_->ParallelFor(intervals, cancel_, [&](int64_t i, int id) {
    const uint64_t first = i == 0 ? 0 : cuts[i - 1];
    const uint64_t last = i + 1 == intervals ? UINT64_MAX : cuts[i] - 1;
    CollectInterval(first, last, &workers_[id]);
    return RefineInterval(queries, static_cast<size_t>(chunk_rows), &workers_[id], heaps);
  });
}

template class CandidateRefiner<exec::ExactRows, exec::QueryRows>;
template class CandidateRefiner<exec::ListRows, exec::QueryLists>;

}  // namespace kinjo::join
