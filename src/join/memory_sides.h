// Sides of a join held in memory, for tests: a table, a dataset with fragments, deletions and an
// IVF_FLAT index, and a runner that collects what a join emits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "arrow/util/float16.h"
#include "base/assert_result.h"
#include "dataset/memory_dataset.h"
#include "join/executor.h"
#include "join/plan.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// Vectors as doubles; an empty one stands for null.
using Vectors = std::vector<std::vector<double>>;

/// Arrow arrays of vectors, as fixed-size lists of `dim` or as lists (dim < 0).
inline std::shared_ptr<arrow::Array> MakeVectorArray(const Vectors& vectors,
                                                     std::shared_ptr<arrow::DataType> element,
                                                     int32_t dim) {
  auto* pool = arrow::default_memory_pool();
  std::unique_ptr<arrow::ArrayBuilder> values;
  if (!arrow::MakeBuilder(pool, element, &values).ok()) std::abort();
  std::shared_ptr<arrow::ArrayBuilder> shared(std::move(values));
  const auto append = [&](double value) {
    if (element->id() == arrow::Type::HALF_FLOAT) {
      const uint16_t bits = arrow::util::Float16(value).bits();
      if (!static_cast<arrow::HalfFloatBuilder&>(*shared).Append(bits).ok()) std::abort();
      return;
    }
    const auto scalar = arrow::MakeScalar(value)->CastTo(element);
    if (!scalar.ok() || !shared->AppendScalar(**scalar).ok()) std::abort();
  };
  if (dim >= 0) {
    arrow::FixedSizeListBuilder builder(pool, shared, dim);
    for (const auto& vector : vectors) {
      if (vector.empty()) {
        if (!builder.AppendNull().ok()) std::abort();
        continue;
      }
      if (!builder.Append().ok()) std::abort();
      for (const double value : vector) append(value);
    }
    return builder.Finish().ValueOrDie();
  }
  arrow::ListBuilder builder(pool, shared);
  for (const auto& vector : vectors) {
    if (!builder.Append(!vector.empty()).ok()) std::abort();
    for (const double value : vector) append(value);
  }
  return builder.Finish().ValueOrDie();
}

inline std::shared_ptr<arrow::Array> MakeIds(int64_t count, int64_t first = 0) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < count; ++i) builder.Append(first + i).ok();
  return builder.Finish().ValueOrDie();
}

/// A batch of an id column (int64, 0, 1, 2, ...) and a vector column.
inline std::shared_ptr<arrow::RecordBatch> MakeVectorBatch(const std::string& id_name,
                                                           const std::string& vector_name,
                                                           const Vectors& vectors,
                                                           std::shared_ptr<arrow::DataType> element,
                                                           int32_t dim) {
  const auto array = MakeVectorArray(vectors, std::move(element), dim);
  return arrow::RecordBatch::Make(arrow::schema({arrow::field(id_name, arrow::int64()),
                                                 arrow::field(vector_name, array->type())}),
                                  array->length(), {MakeIds(array->length()), array});
}

using dataset::SelectByName;
using dataset::TakeRows;

/// A table of one batch, read in slices of `slice_rows`.
class MemoryTable final : public tabular::TableSource {
 public:
  MemoryTable(std::shared_ptr<arrow::RecordBatch> batch, std::string uri, int64_t slice_rows = 100)
      : batch_(std::move(batch)), uri_(std::move(uri)), slice_rows_(slice_rows) {}

  const std::string& uri() const override { return uri_; }
  const std::string& format() const override { return format_; }
  std::shared_ptr<arrow::Schema> schema() const override { return batch_->schema(); }
  std::optional<int64_t> num_rows() const override { return batch_->num_rows(); }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> Read(
      const std::optional<std::vector<std::string>>& columns) override {
    const auto chosen = SelectByName(*batch_, columns.value_or(batch_->schema()->field_names()));
    arrow::RecordBatchVector slices;
    for (int64_t row = 0; row < chosen->num_rows(); row += slice_rows_) {
      slices.push_back(chosen->Slice(row, slice_rows_));
    }
    return arrow::RecordBatchReader::Make(slices, chosen->schema());
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns, std::span<const uint64_t> ordinals) override {
    return TakeRows(*SelectByName(*batch_, columns), {ordinals.begin(), ordinals.end()});
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::string uri_;
  std::string format_ = "memory";
  int64_t slice_rows_;
};

/// A dataset of columns `id` and `vector` (float32) whose row ids are its addresses.
class MemoryDataset final : public dataset::MemoryDataset {
 public:
  /// Rows are cut into fragments of `fragment_rows`.
  MemoryDataset(Vectors vectors, int64_t fragment_rows, int32_t dim)
      : dataset::MemoryDataset(MakeVectorBatch("id", "vector", vectors, arrow::float32(), dim),
                               fragment_rows),
        vectors_(std::move(vectors)) {}

  /// Adds an IVF_FLAT index whose segments cover the given fragments, with the given centroids
  /// each.
  void AddIndex(const std::string& name, const std::string& metric,
                const std::vector<std::vector<uint64_t>>& segments, const Vectors& centroids) {
    index::FloatVectors floats;
    for (const auto& centroid : centroids) floats.emplace_back(centroid.begin(), centroid.end());
    dataset::MemoryDataset::AddIndex(name, "vector", metric, segments, floats);
  }

  const Vectors& vectors() const { return vectors_; }

 private:
  Vectors vectors_;
};

/// What a join gave.
struct JoinOutcome {
  std::shared_ptr<arrow::Table> table;
  JoinReport report;
};

/// Plans and runs a join in the calling thread.
inline arrow::Result<JoinOutcome> RunJoin(std::shared_ptr<tabular::TableSource> left,
                                          std::shared_ptr<RightSide> right,
                                          const JoinOptions& options) {
  ARROW_ASSIGN_OR_RAISE(auto plan, MakePlan(std::move(left), std::move(right), options));
  Executor executor(plan, {});
  arrow::RecordBatchVector batches;
  ARROW_RETURN_NOT_OK(
      executor.Run(base::CancelToken(), [&](std::shared_ptr<arrow::RecordBatch> batch) {
        batches.push_back(std::move(batch));
        return batches.back()->ValidateFull();
      }));
  JoinOutcome outcome;
  ARROW_ASSIGN_OR_RAISE(outcome.table,
                        arrow::Table::FromRecordBatches(plan->layout.schema, batches));
  ARROW_ASSIGN_OR_RAISE(outcome.table, outcome.table->CombineChunks());
  outcome.report = executor.report();
  return outcome;
}

/// One value of a combined table's column.
template <typename ArrayType>
const ArrayType& ColumnOf(const arrow::Table& table, const std::string& name) {
  return static_cast<const ArrayType&>(*table.GetColumnByName(name)->chunk(0));
}

}  // namespace kinjo::join
