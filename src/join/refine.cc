#include "join/refine.h"

#include <algorithm>
#include <functional>

namespace kinjo::join {

namespace {

constexpr int64_t kQueriesPerItem = 128;

int64_t ItemsFor(size_t queries) {
  return (static_cast<int64_t>(queries) + kQueriesPerItem - 1) / kQueriesPerItem;
}

}  // namespace

arrow::Status Refiner::Gather(exec::NeighborHeaps* candidates) {
  const auto num_queries = static_cast<size_t>(candidates->num_queries());
  pending_.assign(num_queries, Pending{});
  ARROW_RETURN_NOT_OK(pool_->ParallelFor(ItemsFor(num_queries), cancel_, [&](int64_t item, int) {
    const auto begin = static_cast<size_t>(item * kQueriesPerItem);
    const size_t end = std::min(num_queries, begin + kQueriesPerItem);
    for (size_t query = begin; query < end; ++query) {
      std::vector<uint64_t>& addresses = pending_[query].addresses;
      for (const kernels::Neighbor& neighbor :
           candidates->TakeSorted(static_cast<int64_t>(query))) {
        addresses.push_back(neighbor.address);
      }
      std::sort(addresses.begin(), addresses.end());
    }
    return arrow::Status::OK();
  }));
  distinct_.clear();
  for (const Pending& pending : pending_) {
    distinct_.insert(distinct_.end(), pending.addresses.begin(), pending.addresses.end());
  }
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
  return arrow::Status::OK();
}

arrow::Status Refiner::ReadChunk(const exec::QueryRows& queries,
                                 std::span<const uint64_t> addresses, Chunk* chunk) {
  ARROW_RETURN_NOT_OK(cancel_.Check());
  chunk->addresses = addresses;
  ARROW_ASSIGN_OR_RAISE(const auto batch, plan_.right->Take({plan_.right_vector.name}, addresses));
  if (batch->num_rows() != static_cast<int64_t>(addresses.size())) {
    return base::Internal("refine asked for ", addresses.size(), " rows and got ",
                          batch->num_rows());
  }
  const exec::VectorRead read{
      .what = plan_.right_vector.what, .width = queries.dim, .expected = plan_.left_vector.what};
  ARROW_ASSIGN_OR_RAISE(chunk->rows, exec::ExactRows::Read(plan_.metric(), batch->column(0), read));
  counters_->rows_refined.fetch_add(batch->num_rows(), std::memory_order_relaxed);
  return arrow::Status::OK();
}

void Refiner::ScoreQuery(const exec::QueryRows& queries, uint32_t query, const Chunk& chunk,
                         exec::NeighborHeaps* heaps) {
  constexpr size_t kPairs = 256;
  exec::ScorePair pairs[kPairs];
  float distances[kPairs];
  Pending& pending = pending_[query];
  auto position = chunk.addresses.begin();
  while (pending.scored < pending.addresses.size()) {
    size_t count = 0;
    for (; count < kPairs && pending.scored < pending.addresses.size(); ++pending.scored) {
      const uint64_t address = pending.addresses[pending.scored];
      position = std::lower_bound(position, chunk.addresses.end(), address);
      if (position == chunk.addresses.end()) break;
      const auto row = static_cast<uint32_t>(position - chunk.addresses.begin());
      if (chunk.rows.can_match(row)) pairs[count++] = {query, row};
    }
    if (count == 0) return;
    chunk.rows.Score(queries, {pairs, count}, distances);
    for (size_t i = 0; i < count; ++i) {
      heaps->Push(query, {distances[i], chunk.addresses[pairs[i].row]});
    }
    counters_->exact_comparisons.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  }
}

arrow::Status Refiner::ScoreChunk(const exec::QueryRows& queries, const Chunk& chunk,
                                  exec::NeighborHeaps* heaps,
                                  const std::function<arrow::Status()>& beside) {
  const int64_t extra = beside ? 1 : 0;
  const int64_t items = ItemsFor(pending_.size()) + extra;
  return pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    if (item < extra) return beside();
    const auto begin = static_cast<size_t>((item - extra) * kQueriesPerItem);
    const size_t end = std::min(pending_.size(), begin + kQueriesPerItem);
    for (size_t query = begin; query < end; ++query) {
      ScoreQuery(queries, static_cast<uint32_t>(query), chunk, heaps);
    }
    return arrow::Status::OK();
  });
}

arrow::Status Refiner::Refine(const exec::QueryRows& queries, exec::NeighborHeaps* candidates,
                              exec::NeighborHeaps* heaps) {
  const PhaseTimer timer(&counters_->refine_ns);
  ARROW_RETURN_NOT_OK(Gather(candidates));
  if (distinct_.empty()) return arrow::Status::OK();
  // Two chunks at a time: as read, and widened for scoring.
  const int64_t row_bytes = queries.dim * 3 * 8;
  const auto chunk_rows =
      static_cast<size_t>(std::max<int64_t>(1024, plan_.memory.take_bytes / 2 / row_bytes));
  const std::span<const uint64_t> all(distinct_);
  Chunk chunks[2];
  ARROW_RETURN_NOT_OK(
      ReadChunk(queries, all.subspan(0, std::min(chunk_rows, all.size())), &chunks[0]));
  int current = 0;
  for (size_t done = 0; done < all.size(); done += chunk_rows, current = 1 - current) {
    std::function<arrow::Status()> read_next;
    const size_t next = done + chunk_rows;
    if (next < all.size()) {
      read_next = [&, next] {
        return ReadChunk(queries, all.subspan(next, std::min(chunk_rows, all.size() - next)),
                         &chunks[1 - current]);
      };
    }
    ARROW_RETURN_NOT_OK(ScoreChunk(queries, chunks[current], heaps, read_next));
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::join
