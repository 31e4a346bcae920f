#include "join/exact_path.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "join/column_path.h"

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

const exec::ExactRows* VectorsOf(const exec::ExactRows& rows) { return &rows; }
const exec::ExactRows* VectorsOf(const exec::ListRows& rows) { return &rows.vectors(); }

}  // namespace

template <typename Distance>
arrow::Status ExactScan<Distance>::ReadBlock(const Queries& queries,
                                             const exec::NeighborHeaps& heaps, dataset::Scan* scan,
                                             Block* block, bool* more) {
  using Rows = typename Distance::Rows;
  const std::string what = plan_.rows == nullptr
                               ? plan_.right_vector.what
                               : plan_.right_vector.what + " (of the rows that pass)";
  while (true) {
    ARROW_RETURN_NOT_OK(cancel_.Check());
    ARROW_ASSIGN_OR_RAISE(const dataset::ScanBatch batch, scan->Next());
    *more = batch.batch != nullptr;
    if (!*more) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto vectors, ColumnAt(*batch.batch, plan_.right_vector.name));
    const exec::VectorRead read{.what = what,
                                .first_row = next_row_,
                                .width = DimOf(queries),
                                .expected = plan_.left_vector.what};
    ARROW_ASSIGN_OR_RAISE(Rows rows, Rows::Read(plan_.metric(), vectors, read));
    next_row_ += batch.batch->num_rows();
    counters_->rows_scanned.fetch_add(batch.batch->num_rows(), std::memory_order_relaxed);
    if (!space_.has_value()) {
      space_ = exec::FilterSpace::Around(plan_.metric(), *VectorsOf(rows), DimOf(queries));
    }
    if (heaps.groups() == nullptr) {
      block->Fill(*space_, std::move(rows), batch.addresses);
    } else {
      FillByGroup(*space_, std::move(rows), batch.addresses, *heaps.groups(), groups_, block);
    }
    if (block->num_rows() > 0) return arrow::Status::OK();
  }
}

template <typename Distance>
arrow::Status ExactScan<Distance>::Scan(const Queries& queries,
                                        const std::optional<std::vector<uint64_t>>& fragment_ids,
                                        exec::NeighborHeaps* heaps, const OnRows& on_rows) {
  if (IsEmpty(queries)) return arrow::Status::OK();
  const PhaseTimer timer(&counters_->exact_ns);
  ARROW_ASSIGN_OR_RAISE(const auto scan,
                        plan_.right->ScanColumn(plan_.right_vector.root, fragment_ids,
                                                plan_.scan_batch_rows(), plan_.rows));
  next_row_ = 0;
  groups_.clear();
  if (heaps->groups() != nullptr) {
    const std::vector<uint32_t>& group = heaps->eligibility()->group;
    std::unique_copy(group.begin(), group.end(), std::back_inserter(groups_));
  }
  Block blocks[2];
  bool more = true;
  ARROW_RETURN_NOT_OK(ReadBlock(queries, *heaps, scan.get(), &blocks[0], &more));
  if (!more) return arrow::Status::OK();
  Distance distance(pool_, cancel_);
  ARROW_RETURN_NOT_OK(distance.SetQueries(&*space_, &queries));
  arrow::Status status;
  for (int current = 0; more && status.ok(); current = 1 - current) {
    Block* next = &blocks[1 - current];
    status = distance.Score(blocks[current], heaps,
                            [&] { return ReadBlock(queries, *heaps, scan.get(), next, &more); });
    if (on_rows) on_rows(next_row_);
  }
  counters_->exact_comparisons.fetch_add(distance.exact_comparisons(), std::memory_order_relaxed);
  counters_->scan_tiles_started.fetch_add(distance.tiles_started(), std::memory_order_relaxed);
  return status;
}

template class ExactScan<exec::KnnVectorDistance>;
template class ExactScan<exec::MultivectorDistance>;

}  // namespace kinjo::join
