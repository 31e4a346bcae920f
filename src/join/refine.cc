#include "join/refine.h"

#include <algorithm>
#include <utility>

#include "dataset/column_path.h"

namespace kinjo::join {

namespace {

constexpr int64_t kQueriesPerItem = 128;

// What a thread reads at a time: so little that it is scored out of the cache, from memory that the
// pieces before it have warmed.
constexpr int64_t kChunkBytesMax = int64_t{2} << 20;
constexpr int64_t kChunkRowsMin = 512;

// Candidates looked at to cut the addresses evenly.
constexpr int64_t kSampleMax = 1 << 14;
// Candidates of an interval, about, at most: they are sorted by one thread.
constexpr int64_t kIntervalCandidates = 1 << 16;
// Candidates scored together, so that a row which all queries want brings no long list.
constexpr size_t kChunkCandidates = 1 << 16;
// Heaps that are fetched ahead of their turn.
constexpr size_t kPushesAhead = 16;

int64_t DimOf(const exec::QueryRows& queries) { return queries.dim; }
int64_t DimOf(const exec::QueryLists& lists) { return lists.dim(); }

}  // namespace

template <typename Rows, typename Queries>
std::vector<uint64_t> CandidateRefiner<Rows, Queries>::CutAddresses(
    const exec::NeighborHeaps& candidates) const {
  int64_t total = 0;
  for (int64_t query = 0; query < candidates.num_queries(); ++query) {
    total += candidates.size(query);
  }
  const int64_t step = total / kSampleMax + 1;
  std::vector<uint64_t> sample;
  int64_t skip = 0;
  for (int64_t query = 0; query < candidates.num_queries(); ++query) {
    const auto rows = candidates.rows(query);
    const auto count = static_cast<int64_t>(rows.size());
    for (; skip < count; skip += step) sample.push_back(rows[skip].address);
    skip -= count;
  }
  std::sort(sample.begin(), sample.end());
  const int64_t for_threads =
      std::min<int64_t>(4 * pool_->size(), (total + kChunkRowsMin - 1) / kChunkRowsMin);
  const int64_t intervals = std::max<int64_t>({1, for_threads, total / kIntervalCandidates});
  std::vector<uint64_t> cuts;
  for (int64_t i = 1; i < intervals && !sample.empty(); ++i) {
    const uint64_t cut = sample[sample.size() * static_cast<size_t>(i) / intervals];
    if (cut > (cuts.empty() ? 0 : cuts.back())) cuts.push_back(cut);
  }
  return cuts;
}

template <typename Rows, typename Queries>
arrow::Status CandidateRefiner<Rows, Queries>::Gather(const std::vector<uint64_t>& cuts,
                                                      exec::NeighborHeaps* candidates) {
  const int64_t num_queries = candidates->num_queries();
  const int64_t items = (num_queries + kQueriesPerItem - 1) / kQueriesPerItem;
  const size_t intervals = cuts.size() + 1;
  const auto interval_of = [&](uint64_t address) {
    return std::upper_bound(cuts.begin(), cuts.end(), address) - cuts.begin();
  };
  // Counted first, so that every item knows where its own candidates of an interval go.
  std::vector<std::vector<size_t>> places(static_cast<size_t>(items));
  ARROW_RETURN_NOT_OK(pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    std::vector<size_t>& counts = places[item];
    counts.assign(intervals, 0);
    const int64_t end = std::min(num_queries, (item + 1) * kQueriesPerItem);
    for (int64_t query = item * kQueriesPerItem; query < end; ++query) {
      for (const auto& row : candidates->rows(query)) ++counts[interval_of(row.address)];
    }
    return arrow::Status::OK();
  }));
  interval_begins_.assign(1, 0);
  size_t place = 0;
  for (size_t interval = 0; interval < intervals; ++interval) {
    for (auto& counts : places) place += std::exchange(counts[interval], place);
    interval_begins_.push_back(place);
  }
  candidates_.resize(place);
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    std::vector<size_t>& next = places[item];
    const int64_t end = std::min(num_queries, (item + 1) * kQueriesPerItem);
    for (int64_t query = item * kQueriesPerItem; query < end; ++query) {
      for (const auto& row : candidates->rows(query)) {
        candidates_[next[interval_of(row.address)]++] = {row.address, static_cast<uint32_t>(query)};
      }
      candidates->Drop(query);
    }
    return arrow::Status::OK();
  });
}

// By digits, from the lowest that differs to the highest.
template <typename Rows, typename Queries>
void CandidateRefiner<Rows, Queries>::SortByAddress(std::span<Candidate> candidates,
                                                    std::vector<Candidate>* scratch) {
  constexpr int kBits = 8;
  constexpr size_t kDigits = size_t{1} << kBits;
  uint64_t differing = 0;
  for (const Candidate& candidate : candidates) {
    differing |= candidate.address ^ candidates.front().address;
  }
  scratch->resize(candidates.size());
  std::span<Candidate> from = candidates;
  std::span<Candidate> to = *scratch;
  for (int shift = 0; shift < 64; shift += kBits) {
    if ((differing >> shift & (kDigits - 1)) == 0) continue;
    size_t places[kDigits] = {};
    for (const Candidate& candidate : from) ++places[candidate.address >> shift & (kDigits - 1)];
    size_t place = 0;
    for (size_t& count : places) place += std::exchange(count, place);
    for (const Candidate& candidate : from) {
      to[places[candidate.address >> shift & (kDigits - 1)]++] = candidate;
    }
    std::swap(from, to);
  }
  if (from.data() != candidates.data()) std::copy(from.begin(), from.end(), candidates.begin());
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
  ARROW_ASSIGN_OR_RAISE(const auto vectors, dataset::ColumnAt(*batch, plan_.right_vector.name));
  return Rows::Read(plan_.metric(), vectors,
                    {.what = plan_.right_vector.what,
                     .width = DimOf(queries),
                     .expected = plan_.left_vector.what});
}

template <typename Rows, typename Queries>
void CandidateRefiner<Rows, Queries>::ScoreChunk(const Queries& queries, const Rows& rows,
                                                 std::span<const uint64_t> addresses,
                                                 std::span<const Candidate> candidates,
                                                 Worker* worker, exec::NeighborHeaps* heaps) {
  worker->pairs.clear();
  uint32_t row = 0;
  for (const Candidate& candidate : candidates) {
    while (addresses[row] != candidate.address) ++row;
    if (rows.can_match(row)) worker->pairs.push_back({candidate.query, row});
  }
  const std::span<const exec::ScorePair> pairs = worker->pairs;
  worker->distances.resize(pairs.size());
  rows.Score(queries, pairs, worker->distances.data());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const size_t later = std::min(i + kPushesAhead, pairs.size() - 1);
    heaps->Prefetch(pairs[later].query);
    heaps->Push(pairs[i].query, {worker->distances[i], addresses[pairs[i].row]});
  }
  counters_->exact_comparisons.fetch_add(static_cast<int64_t>(pairs.size()),
                                         std::memory_order_relaxed);
}

template <typename Rows, typename Queries>
arrow::Status CandidateRefiner<Rows, Queries>::RefineInterval(const Queries& queries,
                                                              std::span<Candidate> interval,
                                                              size_t chunk_rows, Worker* worker,
                                                              exec::NeighborHeaps* heaps) {
  SortByAddress(interval, &worker->sorting);
  std::span<const Candidate> rest = interval;
  while (!rest.empty()) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    std::vector<uint64_t>& addresses = worker->distinct;
    addresses.clear();
    size_t count = 0;
    for (; count < rest.size() && count < kChunkCandidates; ++count) {
      const uint64_t address = rest[count].address;
      if (!addresses.empty() && addresses.back() == address) continue;
      if (addresses.size() == chunk_rows) break;
      addresses.push_back(address);
    }
    const std::span<const Candidate> chunk = rest.first(count);
    rest = rest.subspan(count);
    ARROW_ASSIGN_OR_RAISE(const Rows rows, ReadRows(queries, addresses));
    ScoreChunk(queries, rows, addresses, chunk, worker, heaps);
  }
  return arrow::Status::OK();
}

template <typename Rows, typename Queries>
arrow::Status CandidateRefiner<Rows, Queries>::Refine(const Queries& queries,
                                                      exec::NeighborHeaps* candidates,
                                                      exec::NeighborHeaps* heaps) {
  const PhaseTimer timer(&counters_->refine_ns);
  // As read, as an array, and widened for scoring.
  const int64_t row_bytes = DimOf(queries) * plan_.row_vectors * 3 * 8;
  const int64_t chunk_bytes = std::min(kChunkBytesMax, plan_.memory.take_bytes / pool_->size());
  const int64_t chunk_rows = std::max(kChunkRowsMin, chunk_bytes / row_bytes);
  ARROW_RETURN_NOT_OK(Gather(CutAddresses(*candidates), candidates));
  const auto intervals = static_cast<int64_t>(interval_begins_.size()) - 1;
  return pool_->ParallelFor(intervals, cancel_, [&](int64_t i, int id) {
    const auto interval =
        std::span(candidates_)
            .subspan(interval_begins_[i], interval_begins_[i + 1] - interval_begins_[i]);
    return RefineInterval(queries, interval, static_cast<size_t>(chunk_rows), &workers_[id], heaps);
  });
}

template class CandidateRefiner<exec::ExactRows, exec::QueryRows>;
template class CandidateRefiner<exec::ListRows, exec::QueryLists>;

}  // namespace kinjo::join
