#include "join/left_block.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "arrow/util/byte_size.h"
#include "dataset/column_path.h"
#include "exec/exact_rows.h"
#include "exec/vector_array.h"

namespace kinjo::join {

std::vector<std::string> LeftReader::Columns(const JoinPlan& plan, LeftParts parts) {
  std::vector<std::string> columns;
  if (parts != LeftParts::kVectors) columns = plan.layout.left_columns;
  std::vector<std::string> more;
  // Without any column a source wouldn't tell its rows.
  if (parts != LeftParts::kColumns || columns.empty()) more.push_back(plan.left_vector.root);
  if (parts != LeftParts::kColumns) {
    for (const KeyColumn& key : plan.eligibility.by.left) more.push_back(key.root);
    for (const KeyColumn& key : plan.eligibility.self.left) more.push_back(key.root);
  }
  for (std::string& column : more) {
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      columns.push_back(std::move(column));
    }
  }
  return columns;
}

arrow::Result<std::unique_ptr<LeftReader>> LeftReader::Open(const JoinPlan& plan,
                                                            const EligibleRows* eligible,
                                                            LeftParts parts, int64_t part_rows) {
  std::unique_ptr<LeftReader> reader(new LeftReader(plan, parts, part_rows));
  if (parts != LeftParts::kVectors) reader->columns_ = plan.layout.left_columns;
  reader->eligible_ = eligible;
  if (parts != LeftParts::kColumns && plan.eligibility.excludes_by_place()) {
    reader->places_ = LeftIdentity::Open(*plan.right);
  }
  ARROW_ASSIGN_OR_RAISE(reader->reader_, plan.left->Read(Columns(plan, parts)));
  if (plan.right_vector.type.width.has_value()) {
    reader->width_ = *plan.right_vector.type.width;
    reader->expected_ = plan.right_vector.what;
  }
  return reader;
}

arrow::Result<int64_t> LeftReader::CountFitting(int64_t rows, const LeftBlock& block) const {
  ARROW_ASSIGN_OR_RAISE(const auto vectors, dataset::ColumnAt(*pending_, plan_.left_vector.name));
  const int64_t room = plan_.memory.block_vectors - block.lists.vectors.num_queries;
  ARROW_ASSIGN_OR_RAISE(const int64_t fitting,
                        exec::CountListsWithin(*vectors->Slice(pending_offset_, rows), room));
  if (fitting > 0 || block.num_rows > 0) return fitting;
  const int64_t row_vectors = exec::ListLength(*vectors, pending_offset_);
  return BlockTooSmall(
      plan_.memory, row_vectors,
      base::Concat(plan_.left_vector.what, ": row ", next_row_, " has ", row_vectors, " vectors"));
}

arrow::Status LeftReader::FillPending() {
  while (pending_ == nullptr || pending_offset_ >= pending_->num_rows()) {
    ARROW_ASSIGN_OR_RAISE(pending_, reader_->Next());
    pending_offset_ = 0;
    if (pending_ == nullptr) break;
  }
  return arrow::Status::OK();
}

arrow::Result<int64_t> LeftReader::Skip(int64_t rows, const base::CancelToken& cancel) {
  const int64_t begin = next_row_;
  while (next_row_ < begin + rows) {
    ARROW_RETURN_NOT_OK(cancel.Check());
    ARROW_RETURN_NOT_OK(FillPending());
    if (pending_ == nullptr) break;
    const int64_t left = begin + rows - next_row_;
    const int64_t count = std::min(left, pending_->num_rows() - pending_offset_);
    pending_offset_ += count;
    next_row_ += count;
  }
  return next_row_ - begin;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> LeftReader::NextSlice(int64_t rows,
                                                                         const LeftBlock& block) {
  ARROW_RETURN_NOT_OK(FillPending());
  if (pending_ == nullptr) return pending_;
  int64_t count = std::min(rows, pending_->num_rows() - pending_offset_);
  if (plan_.left_vector.multivector && parts_ != LeftParts::kColumns) {
    ARROW_ASSIGN_OR_RAISE(count, CountFitting(count, block));
    if (count == 0) return std::shared_ptr<arrow::RecordBatch>();
  }
  auto slice = pending_->Slice(pending_offset_, count);
  pending_offset_ += count;
  return slice;
}

template <typename T>
arrow::Status LeftReader::AddRows(const std::shared_ptr<arrow::Array>& vectors, int64_t first_row,
                                  std::vector<T>* values, LeftBlock* block) {
  const exec::VectorRead read{.what = plan_.left_vector.what,
                              .first_row = first_row,
                              .width = width_,
                              .expected = expected_};
  // Floats are widened from where they lie.
  const std::optional<exec::VectorType> type = exec::VectorTypeOf(*vectors->type());
  const bool widens = std::is_same_v<T, double> && type.has_value() && type->widens_to_float();
  exec::VectorRows<float> floats;
  exec::VectorRows<T> rows;
  if (widens) {
    ARROW_ASSIGN_OR_RAISE(floats, exec::ReadVectors<float>(vectors, read));
    rows.num_rows = floats.num_rows;
    rows.width = floats.width;
    rows.states = std::move(floats.states);
  } else {
    ARROW_ASSIGN_OR_RAISE(rows, exec::ReadVectors<T>(vectors, read));
  }
  if (width_ < 0 && rows.width > 0) {
    width_ = rows.width;
    expected_ = "an earlier row";
  }
  exec::QueryRows& queries = block->queries;
  if (rows.width > 0) queries.dim = rows.width;
  // All at once: a vector that grows holds its elements twice.
  if (queries.num_queries == 0) {
    const int64_t most = std::min(plan_.memory.block_rows, plan_.left->num_rows().value_or(0));
    values->reserve(static_cast<size_t>(most * std::max<int64_t>(rows.width, 0)));
  }
  for (int64_t i = 0; i < rows.num_rows; ++i) {
    exec::VectorState state = rows.states[i];
    if (state == exec::VectorState::kValid) {
      if (widens) {
        values->insert(values->end(), floats.row(i), floats.row(i) + rows.width);
      } else {
        values->insert(values->end(), rows.row(i), rows.row(i) + rows.width);
      }
    }
    if constexpr (std::is_same_v<T, double>) {
      if (state == exec::VectorState::kValid && queries.metric == kernels::Metric::kCosine) {
        double* query = values->data() + values->size() - rows.width;
        const double norm = exec::ScaleForCosine(query, rows.width);
        if (norm == 0) {
          values->resize(values->size() - static_cast<size_t>(rows.width));
          state = exec::VectorState::kNonFinite;
        } else {
          queries.norms.push_back(norm);
        }
      }
    }
    if (state != exec::VectorState::kValid) {
      ++(state == exec::VectorState::kNull ? block->null_rows : block->non_finite_rows);
      block->query_of_row.push_back(-1);
      continue;
    }
    block->query_of_row.push_back(static_cast<int32_t>(queries.num_queries++));
  }
  return arrow::Status::OK();
}

arrow::Status LeftReader::AddLists(const std::shared_ptr<arrow::Array>& vectors, int64_t first_row,
                                   LeftBlock* block) {
  const exec::VectorRead read{.what = plan_.left_vector.what,
                              .first_row = first_row,
                              .width = width_,
                              .expected = expected_};
  ARROW_ASSIGN_OR_RAISE(const exec::FlatLists lists, exec::FlattenLists(vectors, read));
  if (width_ < 0 && lists.width > 0) {
    width_ = lists.width;
    expected_ = "an earlier row";
  }
  auto list = static_cast<int32_t>(block->lists.num_lists());
  std::vector<exec::VectorState> states;
  ARROW_RETURN_NOT_OK(exec::AppendLists(lists, read, &block->lists, &states));
  for (const exec::VectorState state : states) {
    const bool valid = state == exec::VectorState::kValid;
    block->query_of_row.push_back(valid ? list++ : -1);
    block->null_rows += state == exec::VectorState::kNull;
    block->non_finite_rows += state == exec::VectorState::kNonFinite;
  }
  return arrow::Status::OK();
}

arrow::Status LeftReader::AddQueries(const std::shared_ptr<arrow::Array>& vectors,
                                     int64_t first_row, LeftBlock* block) {
  if (plan_.left_vector.multivector) return AddLists(vectors, first_row, block);
  if (plan_.metric() == kernels::Metric::kHamming) {
    return AddRows<uint8_t>(vectors, first_row, &block->queries.bytes, block);
  }
  return AddRows<double>(vectors, first_row, &block->queries.values, block);
}

arrow::Status LeftReader::AddIdentities(const arrow::RecordBatch& rows, int64_t first_row) {
  if (eligible_ == nullptr) return arrow::Status::OK();
  const size_t before = identities_.size();
  const auto count = static_cast<size_t>(rows.num_rows());
  identities_.resize(before + count);
  const std::span<RowIdentity> added = std::span(identities_).subspan(before);
  if (const RightKeys* by = eligible_->by(); by != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const KeyBytes keys, ReadKeys(rows, plan_.eligibility.by.left));
    for (size_t i = 0; i < count; ++i) {
      added[i].group = keys.is_key[i] ? by->table.Find(keys.keys[i]) : exec::RowGroups::kNone;
    }
  }
  if (const RightKeys* self = eligible_->self(); self != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const KeyBytes keys, ReadKeys(rows, plan_.eligibility.self.left));
    for (size_t i = 0; i < count; ++i) {
      const uint32_t found = keys.is_key[i] ? self->table.Find(keys.keys[i]) : KeyTable::kAbsent;
      if (found != KeyTable::kAbsent) added[i].self = found;
    }
  }
  if (places_ == nullptr) return arrow::Status::OK();
  std::vector<uint64_t> addresses(count);
  if (given_places_.empty()) {
    ARROW_RETURN_NOT_OK(places_->AddressesOf(first_row, addresses));
  } else {
    std::copy_n(given_places_.begin() + first_row, count, addresses.begin());
  }
  for (size_t i = 0; i < count; ++i) added[i].self = addresses[i];
  return arrow::Status::OK();
}

void LeftReader::Arrange(LeftBlock* block) {
  // Each row that can match has a query of its own so far, in the rows' order.
  std::vector<RowIdentity> identities;
  for (size_t row = 0; row < identities_.size(); ++row) {
    if (block->query_of_row[row] >= 0) identities.push_back(identities_[row]);
  }
  const bool excludes = eligible_ != nullptr && plan_.eligibility.excludes_self;
  if (plan_.multivector()) {
    block->num_queries = block->lists.num_lists();
    block->eligibility.excludes = excludes;
    if (!excludes) return;
    if (eligible_->self() != nullptr) block->eligibility.selves = &eligible_->self()->rows;
    for (const RowIdentity& identity : identities) {
      block->eligibility.self.push_back(identity.self);
    }
    block->eligibility.Finish();
    return;
  }
  ArrangedQueries arranged =
      ArrangeQueries(std::move(block->queries), identities, excludes, eligible_);
  block->queries = std::move(arranged.searched.rows);
  block->eligibility = std::move(arranged.searched.eligibility);
  block->few = std::move(arranged.few);
  block->num_queries = arranged.num_queries;
  block->duplicate_rows = arranged.duplicates;
  for (int32_t& query : block->query_of_row) {
    if (query >= 0) query = arranged.number_of[query];
  }
}

arrow::Status LeftReader::Next(LeftBlock* block) {
  *block = LeftBlock{};
  identities_.clear();
  block->first_row = next_row_;
  block->queries.metric = block->lists.vectors.metric = plan_.metric();
  int64_t rows_max = plan_.memory.block_rows;
  if (part_rows_ > 0) rows_max = std::min(rows_max, part_rows_ - next_row_ % part_rows_);
  arrow::RecordBatchVector slices;
  int64_t bytes = 0;
  // Rows may be wider than their types tell: the bytes, as read and put together, bound a block
  // too.
  while (block->num_rows < rows_max && 2 * bytes < plan_.memory.block_bytes) {
    ARROW_ASSIGN_OR_RAISE(const auto slice, NextSlice(rows_max - block->num_rows, *block));
    if (slice == nullptr) break;
    if (parts_ != LeftParts::kColumns) {
      ARROW_ASSIGN_OR_RAISE(const auto vectors, dataset::ColumnAt(*slice, plan_.left_vector.name));
      ARROW_RETURN_NOT_OK(AddQueries(vectors, next_row_, block));
      ARROW_RETURN_NOT_OK(AddIdentities(*slice, next_row_));
    }
    next_row_ += slice->num_rows();
    block->num_rows += slice->num_rows();
    arrow::ArrayVector arrays;
    arrow::FieldVector fields;
    for (size_t i = 0; i < columns_.size(); ++i) {
      arrays.push_back(slice->GetColumnByName(columns_[i]));
      fields.push_back(plan_.layout.schema->field(static_cast<int>(i)));
    }
    slices.push_back(
        arrow::RecordBatch::Make(arrow::schema(fields), slice->num_rows(), std::move(arrays)));
    ARROW_ASSIGN_OR_RAISE(const int64_t slice_bytes,
                          arrow::util::ReferencedBufferSize(*slices.back()));
    bytes += slice_bytes;
  }
  if (block->num_rows == 0) return arrow::Status::OK();
  if (plan_.multivector() && !plan_.left_vector.multivector) {
    block->lists = exec::ListsOfOne(std::move(block->queries));
  }
  if (parts_ != LeftParts::kColumns) Arrange(block);
  if (slices.size() == 1) {
    block->columns = slices[0];
  } else {
    ARROW_ASSIGN_OR_RAISE(block->columns, arrow::ConcatenateRecordBatches(slices));
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::join
