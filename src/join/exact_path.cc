#include "join/exact_path.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

#include "dataset/column_path.h"

namespace kinjo::join {

namespace {

int64_t DimOf(const exec::QueryRows& queries) { return queries.dim; }
int64_t DimOf(const exec::QueryLists& lists) { return lists.dim(); }
bool IsEmpty(const exec::QueryRows& queries) { return queries.num_queries == 0; }
bool IsEmpty(const exec::QueryLists& lists) { return lists.num_lists() == 0; }

void FillByGroup(const exec::FilterSpace& space, exec::ExactRows rows,
                 const std::vector<uint64_t>& addresses, const exec::RowGroups& groups,
                 std::span<const uint32_t> wanted, exec::RowBlock* block) {
  block->FillByGroup(space, std::move(rows), addresses, groups, wanted);
}
/// Lists of vectors aren't joined by keys: the plan refuses it.
void FillByGroup(const exec::FilterSpace& space, exec::ListRows rows,
                 const std::vector<uint64_t>& addresses, const exec::RowGroups&,
                 std::span<const uint32_t>, exec::ListBlock* block) {
  block->Fill(space, std::move(rows), addresses);
}

void FillUngrouped(exec::ExactRows rows, const std::vector<uint64_t>& addresses,
                   exec::RowBlock* block) {
  block->FillUngrouped(std::move(rows), addresses);
}
/// Lists have one way.
void FillUngrouped(const exec::ListRows&, const std::vector<uint64_t>&, exec::ListBlock*) {}

const exec::ExactRows* VectorsOf(const exec::ExactRows& rows) { return &rows; }
const exec::ExactRows* VectorsOf(const exec::ListRows& rows) { return &rows.vectors(); }

// Lists of vectors are scored by all threads together.
template <typename Distance>
constexpr bool kHasOwnBlocks = std::is_same_v<Distance, exec::KnnVectorDistance>;

// With fewer kept blocks a thread, all threads score one block after another.
constexpr int64_t kBlocksAThread = 4;

}  // namespace

template <typename Distance>
arrow::Result<typename ExactScan<Distance>::Batch> ExactScan<Distance>::NextBatch(
    dataset::Scan* scan) {
  Batch batch;
  ARROW_ASSIGN_OR_RAISE(batch.rows, scan->Next());
  batch.first_row = next_row_;
  batch.block = next_block_;
  if (batch.rows.batch == nullptr) return batch;
  next_row_ += batch.rows.batch->num_rows();
  ++next_block_;
  counters_->rows_scanned.fetch_add(batch.rows.batch->num_rows(), std::memory_order_relaxed);
  return batch;
}

template <typename Distance>
arrow::Status ExactScan<Distance>::FillBlock(const Queries& queries,
                                             const exec::NeighborHeaps& heaps, const Batch& batch,
                                             Block* block) {
  using Rows = typename Distance::Rows;
  ARROW_ASSIGN_OR_RAISE(const auto vectors,
                        dataset::ColumnAt(*batch.rows.batch, plan_.right_vector.name));
  const std::string what = plan_.rows == nullptr
                               ? plan_.right_vector.what
                               : plan_.right_vector.what + " (of the rows that pass)";
  const exec::VectorRead read{.what = what,
                              .first_row = batch.first_row,
                              .width = DimOf(queries),
                              .expected = plan_.left_vector.what};
  ARROW_ASSIGN_OR_RAISE(Rows rows, Rows::Read(plan_.metric(), vectors, read));
  if (!space_.has_value()) {  // no other thread is here yet
    space_ = exec::FilterSpace::Around(plan_.metric(), *VectorsOf(rows), DimOf(queries));
  }
  if (scores_pairs(heaps)) {
    FillUngrouped(std::move(rows), batch.rows.addresses, block);
    return arrow::Status::OK();
  }
  if (heaps.groups() == nullptr) {
    block->Fill(*space_, std::move(rows), batch.rows.addresses);
  } else {
    FillByGroup(*space_, std::move(rows), batch.rows.addresses, *heaps.groups(), groups_, block);
  }
  return arrow::Status::OK();
}
template <typename Distance>
arrow::Status ExactScan<Distance>::ReadBlock(const Queries& queries,
                                             const exec::NeighborHeaps& heaps, dataset::Scan* scan,
                                             Block* block, bool* more) {
  while (true) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    ARROW_ASSIGN_OR_RAISE(const Batch batch, NextBatch(scan));
    *more = batch.rows.batch != nullptr;
    if (!*more) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(FillBlock(queries, heaps, batch, block));
    if (block->num_rows() > 0) return arrow::Status::OK();
  }
}

template <typename Distance>
arrow::Status ExactScan<Distance>::ScanSharedBlocks(const Queries& queries, dataset::Scan* scan,
                                                    Block* first, Distance* distance,
                                                    exec::NeighborHeaps* heaps,
                                                    const OnRows& on_rows) {
  Block second;
  Block* blocks[] = {first, &second};
  bool more = true;
  arrow::Status status;
  for (int current = 0; more && status.ok(); current = 1 - current) {
    Block* next = blocks[1 - current];
    status = distance->Score(*blocks[current], heaps,
                             [&] { return ReadBlock(queries, *heaps, scan, next, &more); });
    if (on_rows) on_rows(next_row_);
  }
  return status;
}

template <typename Distance>
arrow::Status ExactScan<Distance>::ScoreOwn(Block* block, int64_t number, int worker,
                                            Distance* distance, exec::NeighborHeaps* heaps) {
  if constexpr (kHasOwnBlocks<Distance>) {
    if (scores_pairs(*heaps)) return distance->ScorePairs(*block, heaps);
    ARROW_RETURN_NOT_OK(distance->ScoreAlone(*block, worker, heaps));
    if (!keeps()) return arrow::Status::OK();
    const std::lock_guard<std::mutex> lock(kept_mutex_);
    if (kept_.size() <= static_cast<size_t>(number)) kept_.resize(static_cast<size_t>(number) + 1);
    kept_[static_cast<size_t>(number)] = std::make_unique<Block>(std::move(*block));
    *block = Block();
  }
  return arrow::Status::OK();
}

template <typename Distance>
arrow::Status ExactScan<Distance>::ScanOnward(const Queries& queries, int worker, Reading* reading,
                                              Distance* distance, exec::NeighborHeaps* heaps,
                                              const OnRows& on_rows) {
  Block block;
  while (true) {
    Batch batch;
    {
      const std::lock_guard<std::mutex> lock(reading->mutex);
      if (reading->ended || reading->failed_block >= 0) return arrow::Status::OK();
      ARROW_RETURN_NOT_OK(cancel_.Check());
      auto next = NextBatch(reading->scan);
      reading->ended = !next.ok() || next->rows.batch == nullptr;
      if (!next.ok()) {
        reading->failed_block = next_block_;
        reading->failed = next.status();
        return arrow::Status::OK();
      }
      if (reading->ended) return arrow::Status::OK();
      batch = std::move(next).ValueUnsafe();
      if (on_rows && worker == 0) on_rows(batch.first_row);
    }
    arrow::Status status = FillBlock(queries, *heaps, batch, &block);
    const int64_t number = batch.block;
    batch = {};
    if (status.ok()) status = ScoreOwn(&block, number, worker, distance, heaps);
    if (status.ok()) continue;
    const std::lock_guard<std::mutex> lock(reading->mutex);
    if (reading->failed_block >= 0 && reading->failed_block < number) return arrow::Status::OK();
    reading->failed_block = number;
    reading->failed = std::move(status);
  }
}

template <typename Distance>
arrow::Status ExactScan<Distance>::ScanOwnBlocks(const Queries& queries, dataset::Scan* scan,
                                                 Block* first, Distance* distance,
                                                 exec::NeighborHeaps* heaps,
                                                 const OnRows& on_rows) {
  Reading reading{.scan = scan};
  const int64_t first_number = next_block_ - 1;
  kept_.clear();
  ARROW_RETURN_NOT_OK(
      pool_->ParallelFor(pool_->size(), cancel_, [&](int64_t item, int worker) -> arrow::Status {
        if (item == 0) {
          ARROW_RETURN_NOT_OK(ScoreOwn(first, first_number, worker, distance, heaps));
        }
        return ScanOnward(queries, worker, &reading, distance, heaps, on_rows);
      }));
  if (on_rows) on_rows(next_row_);
  return reading.failed;
}

template <typename Distance>
arrow::Status ExactScan<Distance>::ScoreKept(Distance* distance, exec::NeighborHeaps* heaps,
                                             const OnRows& on_rows) {
  if constexpr (kHasOwnBlocks<Distance>) {
    const auto blocks = static_cast<int64_t>(kept_.size());
    if (blocks >= kBlocksAThread * pool_->size()) {
      ARROW_RETURN_NOT_OK(pool_->ParallelFor(blocks, cancel_, [&](int64_t i, int worker) {
        if (kept_[i] == nullptr) return arrow::Status::OK();
        return distance->ScoreAlone(*kept_[i], worker, heaps);
      }));
    } else {
      for (const auto& block : kept_) {
        if (block != nullptr) ARROW_RETURN_NOT_OK(distance->Score(*block, heaps, {}));
      }
    }
    if (on_rows) on_rows(next_row_);
  }
  return arrow::Status::OK();
}

template <typename Distance>
arrow::Status ExactScan<Distance>::Scan(const Queries& queries,
                                        const std::optional<std::vector<uint64_t>>& fragment_ids,
                                        exec::NeighborHeaps* heaps, const OnRows& on_rows) {
  if (IsEmpty(queries)) return arrow::Status::OK();
  const PhaseTimer timer(&counters_->exact_ns);
  Distance distance(pool_, cancel_);
  arrow::Status status;
  if (kept_.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto scan,
                          plan_.right->ScanColumn(plan_.right_vector.root, fragment_ids,
                                                  plan_.scan_batch_rows(), plan_.rows));
    next_row_ = next_block_ = 0;
    groups_.clear();
    if (heaps->groups() != nullptr) {
      const std::vector<uint32_t>& group = heaps->eligibility()->group;
      std::unique_copy(group.begin(), group.end(), std::back_inserter(groups_));
    }
    Block first;
    bool more = true;
    ARROW_RETURN_NOT_OK(ReadBlock(queries, *heaps, scan.get(), &first, &more));
    if (!more) return arrow::Status::OK();
    ARROW_RETURN_NOT_OK(distance.SetQueries(&*space_, &queries));
    if (kHasOwnBlocks<Distance> && plan_.ways.exact != ExactWay::kSharedBlocks) {
      status = ScanOwnBlocks(queries, scan.get(), &first, &distance, heaps, on_rows);
    } else {
      status = ScanSharedBlocks(queries, scan.get(), &first, &distance, heaps, on_rows);
    }
  } else {
    ARROW_RETURN_NOT_OK(distance.SetQueries(&*space_, &queries));
    status = ScoreKept(&distance, heaps, on_rows);
  }
  counters_->exact_comparisons.fetch_add(distance.exact_comparisons(), std::memory_order_relaxed);
  counters_->scan_tiles_started.fetch_add(distance.tiles_started(), std::memory_order_relaxed);
  return status;
}

template class ExactScan<exec::KnnVectorDistance>;
template class ExactScan<exec::MultivectorDistance>;

}  // namespace kinjo::join
