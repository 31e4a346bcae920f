#include "dataset/vector_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "arrow/array/array_nested.h"
#include "arrow/type.h"
#include "arrow/util/bit_util.h"
#include "arrow/util/byte_size.h"
#include "dataset/column_path.h"
#include "dataset/row_mask.h"

namespace kinjo::dataset {

namespace {

std::optional<format::ElementType> ElementOf(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::HALF_FLOAT:
      return format::ElementType::kFloat16;
    case arrow::Type::FLOAT:
      return format::ElementType::kFloat32;
    case arrow::Type::DOUBLE:
      return format::ElementType::kFloat64;
    case arrow::Type::UINT8:
      return format::ElementType::kUint8;
    default:
      return std::nullopt;
  }
}

/// Sets element type, width and `lists`.
arrow::Status DescribeColumn(const arrow::DataType& type, IndexedVectors* column) {
  const arrow::DataType* vectors = &type;
  if (type.id() == arrow::Type::LIST) {
    column->lists = true;
    vectors = static_cast<const arrow::ListType&>(type).value_type().get();
  }
  if (vectors->id() == arrow::Type::FIXED_SIZE_LIST) {
    const auto& list = static_cast<const arrow::FixedSizeListType&>(*vectors);
    const auto element = ElementOf(*list.value_type());
    if (element.has_value() && list.list_size() > 0) {
      column->element = *element;
      column->dim = list.list_size();
      return arrow::Status::OK();
    }
  }
  return base::Invalid("column '", column->column, "' has the type ", type.ToString(),
                       "; a vector index is made of fixed-size lists of float16, float32, float64 "
                       "or uint8, or of lists of those");
}

/// Row validity that also counts a vector with a null element as null.
arrow::Status MergeElementNulls(const arrow::FixedSizeListArray& lists, VectorBatch* batch) {
  const arrow::Array& values = *lists.values();
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> bitmap,
                        arrow::AllocateBuffer(arrow::bit_util::BytesForBits(lists.length())));
  for (int64_t i = 0; i < lists.length(); ++i) {
    bool valid = !lists.IsNull(i);
    const int64_t first = lists.value_offset(i);
    for (int64_t j = 0; valid && j < lists.value_length(i); ++j) {
      valid = !values.IsNull(first + j);
    }
    arrow::bit_util::SetBitTo(bitmap->mutable_data(), i, valid);
  }
  batch->vectors.validity = bitmap->data();
  batch->vectors.validity_offset = 0;
  batch->validity = std::move(bitmap);
  return arrow::Status::OK();
}

/// Makes batch->vectors a view of batch->array, which holds fixed-size lists.
arrow::Status ViewVectors(const IndexedVectors& column, VectorBatch* batch) {
  const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*batch->array);
  const arrow::ArrayData& values = *lists.values()->data();
  index::ColumnVectors& vectors = batch->vectors;
  vectors = {.type = column.element, .num_rows = lists.length(), .dim = column.dim};
  if (lists.length() == 0) return arrow::Status::OK();
  const int64_t first = values.offset + lists.value_offset(0);
  vectors.data = values.buffers[1]->data() + first * format::ElementBytes(column.element);
  if (lists.values()->null_count() > 0) return MergeElementNulls(lists, batch);
  if (lists.null_count() > 0) {
    vectors.validity = lists.null_bitmap_data();
    vectors.validity_offset = lists.offset();
  }
  return arrow::Status::OK();
}

/// Takes the lists of batch->array apart: each vector gets the row id of its row.
arrow::Status FlattenRows(VectorBatch* batch) {
  const auto lists = std::static_pointer_cast<arrow::ListArray>(batch->array);
  std::vector<uint64_t> row_ids;
  for (int64_t i = 0; i < lists->length(); ++i) {
    if (lists->IsNull(i)) continue;
    row_ids.insert(row_ids.end(), static_cast<size_t>(lists->value_length(i)),
                   batch->row_ids[static_cast<size_t>(i)]);
  }
  ARROW_ASSIGN_OR_RAISE(batch->array, lists->Flatten());
  batch->row_ids = std::move(row_ids);
  return arrow::Status::OK();
}

}  // namespace

arrow::Result<bool> VectorPass::Next(VectorBatch* batch) {
  ARROW_ASSIGN_OR_RAISE(const ScanBatch scanned, scan_->Next());
  if (scanned.batch == nullptr) return false;
  ARROW_ASSIGN_OR_RAISE(batch->array, ColumnAt(*scanned.batch, column_.column));
  batch->row_ids.resize(scanned.addresses.size());
  ARROW_RETURN_NOT_OK(dataset_->RowIds(scanned.addresses, batch->row_ids));
  if (column_.lists) ARROW_RETURN_NOT_OK(FlattenRows(batch));
  ARROW_RETURN_NOT_OK(ViewVectors(column_, batch));
  return true;
}

arrow::Result<VectorSource> VectorSource::Make(std::shared_ptr<Dataset> dataset,
                                               const std::string& column,
                                               std::optional<std::vector<uint64_t>> fragment_ids) {
  VectorSource source;
  source.dataset_ = std::move(dataset);
  source.column_.column = column;
  const Dataset& opened = *source.dataset_;
  source.root_ = RootOf(*opened.arrow_schema(), column);
  const auto& fields = opened.schema().fields;
  const auto named =
      std::find_if(fields.begin(), fields.end(),
                   [&](const format::Field& candidate) { return candidate.name == column; });
  const format::Field* field = named != fields.end() ? &*named : opened.schema().FindPath(column);
  if (field == nullptr) return base::NotFound(opened.uri(), " has no column '", column, "'");
  source.field_id_ = field->id;
  ARROW_ASSIGN_OR_RAISE(const auto type, format::ToArrowType(*field));
  ARROW_RETURN_NOT_OK(DescribeColumn(*type, &source.column_));
  for (const FragmentInfo& fragment : opened.fragments()) {
    const bool wanted =
        !fragment_ids.has_value() ||
        std::find(fragment_ids->begin(), fragment_ids->end(), fragment.id) != fragment_ids->end();
    if (!wanted) continue;
    source.fragment_ids_.push_back(fragment.id);
    source.live_rows_ += static_cast<int64_t>(fragment.physical_rows - fragment.deleted_rows);
  }
  if (fragment_ids.has_value() && source.fragment_ids_.size() != fragment_ids->size()) {
    return base::NotFound("version ", opened.version(), " of ", opened.uri(),
                          " lacks one of the given fragments, or one is given twice");
  }
  std::sort(source.fragment_ids_.begin(), source.fragment_ids_.end());
  ARROW_RETURN_NOT_OK(source.LookAtFirstRows());
  return source;
}

// Lists are counted on the first rows, and what lies in a struct beside the vectors is weighed.
arrow::Status VectorSource::LookAtFirstRows() {
  const bool nested = root_ != column_.column;
  const auto vector_bytes =
      static_cast<double>(column_.dim * format::ElementBytes(column_.element));
  if ((column_.lists || nested) && live_rows_ > 0) {
    constexpr int64_t kFirstRows = 1024;
    ARROW_ASSIGN_OR_RAISE(const std::unique_ptr<Scan> scan, MakeScan(kFirstRows, nullptr));
    ScanBatch first;
    do {  // those of which all rows are deleted tell nothing
      ARROW_ASSIGN_OR_RAISE(first, scan->Next());
      if (first.batch == nullptr) return base::Internal("a scan of live rows gives none");
    } while (first.batch->num_rows() == 0);
    const auto rows = static_cast<double>(first.batch->num_rows());
    if (column_.lists) {
      ARROW_ASSIGN_OR_RAISE(const auto lists, ColumnAt(*first.batch, column_.column));
      ARROW_ASSIGN_OR_RAISE(const auto vectors,
                            static_cast<const arrow::ListArray&>(*lists).Flatten());
      vectors_a_row_ = static_cast<double>(vectors->length()) / rows;
    }
    if (nested) {
      row_bytes_ = static_cast<double>(arrow::util::TotalBufferSize(*first.batch)) / rows;
    }
  }
  row_bytes_ = std::max(row_bytes_, vector_bytes * std::max(vectors_a_row_, 0.01));
  column_.num_rows = std::llround(static_cast<double>(live_rows_) * vectors_a_row_);
  return arrow::Status::OK();
}

int64_t VectorSource::BatchRows(int64_t batch_bytes) const {
  return std::clamp<int64_t>(std::llround(static_cast<double>(batch_bytes) / row_bytes_), 1,
                             int64_t{1} << 20);
}

arrow::Result<std::unique_ptr<Scan>> VectorSource::MakeScan(
    int64_t batch_rows, std::shared_ptr<const RowMask> rows) const {
  ScanOptions options;
  options.columns = {root_};
  options.fragment_ids = fragment_ids_;
  options.batch_rows = batch_rows;
  options.rows = std::move(rows);
  return dataset_->MakeScan(options);
}

arrow::Result<VectorPass> VectorSource::Read(int64_t batch_rows,
                                             std::shared_ptr<const RowMask> rows) const {
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<Scan> scan, MakeScan(batch_rows, std::move(rows)));
  return VectorPass(dataset_, std::move(scan), column_);
}

arrow::Result<VectorPass> VectorSource::ReadAll(int64_t batch_bytes) const {
  return Read(BatchRows(batch_bytes), nullptr);
}

arrow::Result<VectorPass> VectorSource::ReadSample(int64_t count, uint64_t seed,
                                                   int64_t batch_bytes) const {
  const double wanted_rows = std::ceil(static_cast<double>(count) / std::max(vectors_a_row_, 0.01));
  if (wanted_rows >= static_cast<double>(live_rows_)) return ReadAll(batch_bytes);
  // Positions count deleted rows too: as many more are drawn.
  int64_t physical_rows = 0;
  for (const FragmentInfo& fragment : dataset_->fragments()) {
    if (std::binary_search(fragment_ids_.begin(), fragment_ids_.end(), fragment.id)) {
      physical_rows += static_cast<int64_t>(fragment.physical_rows);
    }
  }
  const double share = wanted_rows / static_cast<double>(live_rows_);
  const std::vector<int64_t> positions = index::SamplePositions(
      physical_rows, std::llround(static_cast<double>(physical_rows) * share), seed);
  RowMask mask;
  auto next = positions.begin();
  int64_t first = 0;
  for (const FragmentInfo& fragment : dataset_->fragments()) {
    if (!std::binary_search(fragment_ids_.begin(), fragment_ids_.end(), fragment.id)) continue;
    const int64_t end = first + static_cast<int64_t>(fragment.physical_rows);
    for (; next != positions.end() && *next < end; ++next) {
      mask.Add(fragment.id << 32 | static_cast<uint64_t>(*next - first));
    }
    first = end;
  }
  return Read(BatchRows(batch_bytes), std::make_shared<RowMask>(std::move(mask)));
}

arrow::Result<std::string> OnlyVectorColumn(const Dataset& dataset) {
  std::vector<std::string> names;
  for (const format::Field& field : dataset.schema().fields) {
    const auto type = format::ToArrowType(field);
    IndexedVectors column;
    if (type.ok() && DescribeColumn(**type, &column).ok()) names.push_back(field.name);
  }
  if (names.size() == 1) return names.front();
  if (names.empty()) return base::Invalid(dataset.uri(), " has no column of vectors");
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return base::Invalid(dataset.uri(),
                       " has several columns of vectors; name one as column: ", list);
}

}  // namespace kinjo::dataset
