#include "join/pairing.h"

#include <algorithm>
#include <atomic>

#include "dataset/row_mask.h"

namespace kinjo::join {

namespace {

constexpr int64_t kRowsPerItem = 4096;
// What a distinct matched row of the right takes: its address, and its place in a mask.
constexpr int64_t kMatchedRowBytes = 12;
// Rows that are reserved for at a time where their number isn't known.
constexpr int64_t kRowsAtATime = int64_t{1} << 20;

const std::vector<kernels::Neighbor> kNoNeighbours;

// A table that grows while it is read twice, or shrinks.
arrow::Status Changed(const JoinPlan& plan) {
  return base::Io("the rows of ", plan.left->uri(), " changed while the join read them");
}

}  // namespace

std::optional<int64_t> KnownLeftRows(const JoinPlan& plan) {
  const auto left_rows = plan.left->num_rows();
  return left_rows.has_value() || !plan.self_join ? left_rows : plan.right->num_rows();
}

int64_t PairingBytes(const JoinPlan& plan, std::optional<int64_t> left_rows) {
  const JoinOptions& options = plan.options;
  int64_t bytes = 0;
  if (plan.self_join) bytes += SelfRows::SizeBytes(plan.right->dataset().get());
  if (!left_rows.has_value()) return bytes;
  const int64_t rows = *left_rows;
  const int64_t right_rows = plan.right->num_rows().value_or(INT64_MAX);
  const int64_t k = std::min(options.k, std::max<int64_t>(right_rows, 1));
  if (options.clusters) bytes += RowClusters::SizeBytes(rows);
  if (options.mutual) {
    bytes += NeighborLists::SizeBytes(rows, k);
    if (plan.searches_reverse()) bytes += std::min(rows * k, right_rows) * kMatchedRowBytes;
  } else if (options.unordered_pairs) {
    bytes += PairSelection::SizeBytes(rows, k);
  }
  return bytes;
}

arrow::Result<std::unique_ptr<Pairing>> Pairing::Make(const JoinPlan& plan, base::ThreadPool* pool,
                                                      const base::CancelToken& cancel,
                                                      base::MemoryBudget* budget,
                                                      RunCounters* counters) {
  std::unique_ptr<Pairing> pairing(new Pairing(plan, pool, cancel, budget, counters));
  const auto rows = KnownLeftRows(plan);
  pairing->reserved_rows_ = rows.value_or(0);
  if (plan.self_join) {
    ARROW_ASSIGN_OR_RAISE(
        pairing->self_rows_,
        SelfRows::Make(plan.right->dataset().get(), rows.value_or(kPairedRowsMax), cancel));
  }
  if (plan.options.clusters) pairing->clusters_.emplace(rows.value_or(0));
  if (plan.options.mutual) {
    pairing->lists_.emplace();
  } else if (plan.options.unordered_pairs) {
    pairing->selection_.emplace();
  }
  return pairing;
}

arrow::Status Pairing::ReserveFor(int64_t rows) {
  while (reserved_rows_ < rows) {
    if (rows > kPairedRowsMax) {
      return base::NotSupported("pairs are told of ", kPairedRowsMax, " left rows at most, but ",
                                plan_.left->uri(), " has more");
    }
    // All that grows grows by rows, but for what is there once.
    const int64_t bytes =
        PairingBytes(plan_, reserved_rows_ + kRowsAtATime) - PairingBytes(plan_, reserved_rows_);
    ARROW_ASSIGN_OR_RAISE(auto reservation, budget_->Reserve(bytes, "the pairs of all left rows"));
    reservations_.push_back(std::move(reservation));
    reserved_rows_ += kRowsAtATime;
  }
  return arrow::Status::OK();
}

arrow::Result<uint32_t> Pairing::RowOf(uint64_t address) const {
  const int64_t row = self_rows_->RowOf(address);
  if (row < 0 || row >= self_rows_->num_rows()) return Changed(plan_);
  return static_cast<uint32_t>(row);
}

arrow::Status Pairing::SelectOnce(const std::vector<kernels::Neighbor>& neighbours,
                                  std::vector<bool>* kept) {
  ordinals_.clear();
  for (const kernels::Neighbor& neighbour : neighbours) {
    ARROW_ASSIGN_OR_RAISE(const uint32_t row, RowOf(neighbour.address));
    ordinals_.push_back(row);
  }
  const int64_t come_out = selection_->Next(ordinals_, kept);
  counters_->dropped_matches.fetch_add(static_cast<int64_t>(neighbours.size()) - come_out,
                                       std::memory_order_relaxed);
  return arrow::Status::OK();
}

arrow::Status Pairing::Connect(int64_t row, const std::vector<kernels::Neighbor>& neighbours) {
  for (const kernels::Neighbor& neighbour : neighbours) {
    ARROW_ASSIGN_OR_RAISE(const uint32_t other, RowOf(neighbour.address));
    clusters_->Grow(std::max<int64_t>(row, other) + 1);
    clusters_->Unite(static_cast<uint32_t>(row), other);
  }
  return arrow::Status::OK();
}

arrow::Status Pairing::Add(const LeftBlock& block, const Matches& matches, KeptMatches* kept) {
  ARROW_RETURN_NOT_OK(ReserveFor(next_row_ + block.num_rows));
  if (selection_.has_value()) kept->resize(static_cast<size_t>(block.num_rows));
  for (int64_t i = 0; i < block.num_rows; ++i, ++next_row_) {
    const int32_t query = block.query_of_row[static_cast<size_t>(i)];
    const auto& neighbours = query < 0 ? kNoNeighbours : matches[static_cast<size_t>(query)];
    matches_ += static_cast<int64_t>(neighbours.size());
    if (lists_.has_value()) {
      lists_->Append(neighbours);
    } else if (selection_.has_value()) {
      ARROW_RETURN_NOT_OK(SelectOnce(neighbours, &(*kept)[static_cast<size_t>(i)]));
    } else {
      ARROW_RETURN_NOT_OK(Connect(next_row_, neighbours));
    }
  }
  return arrow::Status::OK();
}

arrow::Result<std::vector<uint64_t>> Pairing::MatchedRows() const {
  dataset::RowMask mask;
  std::vector<uint64_t> addresses;
  for (int64_t row = 0; row < next_row_; ++row) {
    if (row % kRowsPerItem == 0) ARROW_RETURN_NOT_OK(cancel_.Check());
    addresses.clear();
    lists_->Visit(row, [&](uint64_t address) { addresses.push_back(address); });
    mask.Add(addresses);
  }
  addresses.clear();
  addresses.reserve(mask.count());
  mask.ForEach([&](uint64_t address) {
    addresses.push_back(address);
    return true;
  });
  return addresses;
}

void Pairing::AddReverse(uint64_t address, std::span<const kernels::Neighbor> left_rows) {
  int64_t marked = 0;
  for (const kernels::Neighbor& left : left_rows) {
    const auto row = static_cast<int64_t>(left.address);
    if (row < next_row_ && lists_->Mark(row, address)) ++marked;
  }
  matches_ -= marked;
}

arrow::Status Pairing::MarkMutual() {
  std::atomic<int64_t> marked{0};
  const int64_t items = (next_row_ + kRowsPerItem - 1) / kRowsPerItem;
  ARROW_RETURN_NOT_OK(pool_->ParallelFor(items, cancel_, [&](int64_t item, int) {
    const int64_t end = std::min(next_row_, (item + 1) * kRowsPerItem);
    for (int64_t row = item * kRowsPerItem; row < end; ++row) {
      const uint64_t own = self_rows_->AddressOf(row);
      marked += lists_->MarkWhere(row, [&](uint64_t address) {
        const int64_t other = self_rows_->RowOf(address);
        if (plan_.options.unordered_pairs && other < row) return false;
        return other < next_row_ && lists_->Contains(other, own);
      });
    }
    return arrow::Status::OK();
  }));
  matches_ -= marked.load();
  return arrow::Status::OK();
}

arrow::Status Pairing::Decide() {
  if (self_rows_.has_value() && self_rows_->num_rows() != next_row_ &&
      KnownLeftRows(plan_).has_value()) {
    return Changed(plan_);
  }
  if (lists_.has_value()) {
    if (plan_.self_join) ARROW_RETURN_NOT_OK(MarkMutual());
    counters_->dropped_matches.store(matches_);
  }
  if (!clusters_.has_value()) return arrow::Status::OK();
  if (clusters_->num_rows() > next_row_) return Changed(plan_);
  clusters_->Grow(next_row_);
  for (int64_t row = 0; lists_.has_value() && row < next_row_; ++row) {
    if (row % kRowsPerItem == 0) ARROW_RETURN_NOT_OK(cancel_.Check());
    lists_->VisitMarked(row, [&](uint64_t address) {
      clusters_->Unite(static_cast<uint32_t>(row),
                       static_cast<uint32_t>(self_rows_->RowOf(address)));
    });
  }
  counters_->clusters.store(clusters_->num_clusters());
  return arrow::Status::OK();
}

arrow::Status Pairing::CheckRows(int64_t first_row, int64_t num_rows) const {
  const bool fits = num_rows == 0 ? first_row == next_row_ : first_row + num_rows <= next_row_;
  return fits ? arrow::Status::OK() : Changed(plan_);
}

void Pairing::Get(int64_t first_row, int64_t num_rows, Matches* matches, KeptMatches* kept) const {
  matches->resize(static_cast<size_t>(num_rows));
  kept->resize(static_cast<size_t>(num_rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    lists_->Get(first_row + i, &(*matches)[static_cast<size_t>(i)],
                &(*kept)[static_cast<size_t>(i)]);
  }
}

}  // namespace kinjo::join
