// Sides of a join held in memory, for tests: a table, a dataset with fragments, deletions and an
// IVF_FLAT index, and a runner that collects what a join emits.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "arrow/compute/api_vector.h"
#include "arrow/util/float16.h"
#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "index/ivf_segment.h"
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

inline std::shared_ptr<arrow::RecordBatch> SelectByName(const arrow::RecordBatch& batch,
                                                        const std::vector<std::string>& names) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const std::string& name : names) {
    fields.push_back(batch.schema()->GetFieldByName(name));
    arrays.push_back(batch.GetColumnByName(name));
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), batch.num_rows(), arrays);
}

inline std::shared_ptr<arrow::RecordBatch> TakeRows(const arrow::RecordBatch& batch,
                                                    const std::vector<int64_t>& rows) {
  arrow::Int64Builder builder;
  builder.AppendValues(rows).ok();
  const auto indices = builder.Finish().ValueOrDie();
  arrow::ArrayVector arrays;
  for (const auto& column : batch.columns()) {
    arrays.push_back(arrow::compute::Take(*column, *indices).ValueOrDie());
  }
  return arrow::RecordBatch::Make(batch.schema(), static_cast<int64_t>(rows.size()), arrays);
}

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

/// One IVF_FLAT segment in memory, float32.
class MemoryIndexFiles final : public format::IndexFiles {
 public:
  /// `rows` holds (row id, vector); each goes to its nearest centroid.
  MemoryIndexFiles(const std::string& metric, const Vectors& centroids,
                   const std::vector<std::pair<uint64_t, std::vector<double>>>& rows)
      : dim_(static_cast<uint32_t>(centroids[0].size())), parts_(centroids.size()) {
    std::vector<std::vector<uint64_t>> ids(centroids.size());
    std::vector<std::vector<float>> codes(centroids.size());
    for (const auto& [id, vector] : rows) {
      size_t best = 0;
      double best_distance = std::numeric_limits<double>::infinity();
      for (size_t p = 0; p < centroids.size(); ++p) {
        double distance = 0;
        for (size_t j = 0; j < dim_; ++j) {
          distance += (vector[j] - centroids[p][j]) * (vector[j] - centroids[p][j]);
        }
        if (distance < best_distance) {
          best = p;
          best_distance = distance;
        }
      }
      ids[best].push_back(id);
      codes[best].insert(codes[best].end(), vector.begin(), vector.end());
    }
    ivf_.index_type = "IVF_FLAT";
    ivf_.distance_type = metric;
    std::vector<float> matrix;
    for (size_t p = 0; p < centroids.size(); ++p) {
      matrix.insert(matrix.end(), centroids[p].begin(), centroids[p].end());
      ivf_.offsets.push_back(p == 0 ? 0 : ivf_.offsets.back() + ivf_.lengths.back());
      ivf_.lengths.push_back(ids[p].size());
      parts_[p].num_rows = ids[p].size();
      parts_[p].code_bytes = dim_ * 4;
      parts_[p].row_ids = arrow::Buffer::FromVector(ids[p]);
      parts_[p].codes = arrow::Buffer::FromVector(codes[p]);
    }
    ivf_.centroids = {.type = format::ElementType::kFloat32,
                      .rows = centroids.size(),
                      .cols = dim_,
                      .data = arrow::Buffer::FromVector(matrix)};
  }

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return dim_; }
  arrow::Result<format::PartitionRows> ReadPartition(uint64_t partition) override {
    reads_.fetch_add(1);
    return parts_[partition];
  }
  int64_t reads() const { return reads_.load(); }

 private:
  uint32_t dim_;
  format::IvfModel ivf_;
  format::QuantizerModel quantizer_;
  std::vector<format::PartitionRows> parts_;
  std::atomic<int64_t> reads_{0};
};

/// A dataset of columns `id` and `vector` whose row ids are its addresses.
class MemoryDataset final : public dataset::Dataset {
 public:
  /// Rows are cut into fragments of `fragment_rows`; null and non-finite vectors aren't indexed.
  MemoryDataset(Vectors vectors, int64_t fragment_rows, int32_t dim)
      : vectors_(std::move(vectors)),
        batch_(MakeVectorBatch("id", "vector", vectors_, arrow::float32(), dim)),
        fragment_rows_(fragment_rows) {
    for (int64_t row = 0; row < batch_->num_rows(); row += fragment_rows) {
      dataset::FragmentInfo fragment;
      fragment.id = fragments_.size();
      fragment.physical_rows =
          static_cast<uint64_t>(std::min(fragment_rows, batch_->num_rows() - row));
      fragments_.push_back(fragment);
    }
  }

  uint64_t AddressOf(int64_t row) const {
    return (static_cast<uint64_t>(row / fragment_rows_) << 32) |
           static_cast<uint64_t>(row % fragment_rows_);
  }
  int64_t RowOf(uint64_t address) const {
    return static_cast<int64_t>(address >> 32) * fragment_rows_ +
           static_cast<int64_t>(address & 0xffffffffu);
  }
  void Delete(int64_t row) {
    if (deleted_.insert(row).second) ++fragments_[row / fragment_rows_].deleted_rows;
  }

  /// Adds an index whose segments cover the given fragments, with the given centroids each.
  void AddIndex(const std::string& name, const std::string& metric,
                const std::vector<std::vector<uint64_t>>& segments, const Vectors& centroids) {
    dataset::IndexInfo info;
    info.name = name;
    info.column = "vector";
    info.type = "IVF_FLAT";
    info.metric = metric;
    for (const auto& fragment_ids : segments) {
      std::vector<std::pair<uint64_t, std::vector<double>>> rows;
      for (int64_t row = 0; row < batch_->num_rows(); ++row) {
        const uint64_t address = AddressOf(row);
        if (std::count(fragment_ids.begin(), fragment_ids.end(), address >> 32) == 0) continue;
        if (Indexable(row)) rows.emplace_back(address, vectors_[row]);
      }
      info.segments.push_back(
          {.uuid = name + std::to_string(info.segments.size()), .fragment_ids = fragment_ids});
      files_[info.segments.back().uuid] =
          std::make_shared<MemoryIndexFiles>(metric, centroids, rows);
    }
    indexes_.push_back(info);
  }

  const Vectors& vectors() const { return vectors_; }
  bool live(int64_t row) const { return !deleted_.contains(row); }
  std::vector<dataset::IndexInfo>& mutable_indexes() { return indexes_; }
  int64_t partition_reads() const {
    int64_t reads = 0;
    for (const auto& [uuid, files] : files_) reads += files->reads();
    return reads;
  }

  const std::string& uri() const override { return uri_; }
  uint64_t version() const override { return 1; }
  std::vector<uint64_t> versions() const override { return {1}; }
  const std::string& data_format_version() const override { return uri_; }
  const format::Schema& schema() const override { return schema_; }
  std::shared_ptr<arrow::Schema> arrow_schema() const override { return batch_->schema(); }
  uint64_t num_rows() const override { return vectors_.size() - deleted_.size(); }
  const std::vector<dataset::FragmentInfo>& fragments() const override { return fragments_; }
  const io::IoCounters& io_counters() const override { return counters_; }

  arrow::Result<std::unique_ptr<dataset::Scan>> MakeScan(
      const dataset::ScanOptions& options) override;
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns,
      std::span<const dataset::RowAddress> addresses) override {
    std::vector<int64_t> rows;
    for (const uint64_t address : addresses) rows.push_back(RowOf(address));
    return TakeRows(*SelectByName(*batch_, columns), rows);
  }
  const std::vector<dataset::IndexInfo>& vector_indexes() const override { return indexes_; }
  arrow::Result<std::shared_ptr<index::IvfSegment>> OpenSegment(const dataset::IndexInfo& index,
                                                                size_t segment) override {
    return index::IvfSegment::Make(files_.at(index.segments[segment].uuid));
  }
  arrow::Status ResolveRowIds(const dataset::IndexSegmentInfo& segment,
                              std::span<const uint64_t> row_ids,
                              std::span<dataset::RowAddress> addresses) const override {
    for (size_t i = 0; i < row_ids.size(); ++i) {
      const bool covered = std::count(segment.fragment_ids.begin(), segment.fragment_ids.end(),
                                      row_ids[i] >> 32) > 0;
      addresses[i] = covered && live(RowOf(row_ids[i])) ? row_ids[i] : dataset::kDeadRow;
    }
    return arrow::Status::OK();
  }
  arrow::Status RowIds(std::span<const dataset::RowAddress> addresses,
                       std::span<uint64_t> row_ids) const override {
    std::copy(addresses.begin(), addresses.end(), row_ids.begin());
    return arrow::Status::OK();
  }

 private:
  bool Indexable(int64_t row) const {
    const auto& vector = vectors_[row];
    return !vector.empty() && std::all_of(vector.begin(), vector.end(),
                                          [](double value) { return std::isfinite(value); });
  }

  std::string uri_ = "memory.lance";
  Vectors vectors_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t fragment_rows_;
  std::set<int64_t> deleted_;
  format::Schema schema_;
  io::IoCounters counters_;
  std::vector<dataset::FragmentInfo> fragments_;
  std::vector<dataset::IndexInfo> indexes_;
  std::map<std::string, std::shared_ptr<MemoryIndexFiles>> files_;
};

/// Live rows of a memory dataset, 37 physical rows a batch.
class MemoryScan final : public dataset::Scan {
 public:
  MemoryScan(const MemoryDataset& dataset, std::shared_ptr<arrow::RecordBatch> batch,
             std::vector<int64_t> rows)
      : dataset_(dataset), batch_(std::move(batch)), rows_(std::move(rows)) {}

  arrow::Result<dataset::ScanBatch> Next() override {
    dataset::ScanBatch out;
    if (next_ >= rows_.size()) return out;
    const size_t count = std::min<size_t>(37, rows_.size() - next_);
    const std::vector<int64_t> rows(rows_.begin() + next_, rows_.begin() + next_ + count);
    next_ += count;
    out.batch = TakeRows(*batch_, rows);
    for (const int64_t row : rows) out.addresses.push_back(dataset_.AddressOf(row));
    return out;
  }

 private:
  const MemoryDataset& dataset_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<int64_t> rows_;
  size_t next_ = 0;
};

inline arrow::Result<std::unique_ptr<dataset::Scan>> MemoryDataset::MakeScan(
    const dataset::ScanOptions& options) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < batch_->num_rows(); ++row) {
    const uint64_t fragment = AddressOf(row) >> 32;
    const bool wanted =
        !options.fragment_ids.has_value() ||
        std::count(options.fragment_ids->begin(), options.fragment_ids->end(), fragment) > 0;
    const bool passes = options.rows == nullptr || options.rows->Contains(AddressOf(row));
    if (wanted && passes && live(row)) rows.push_back(row);
  }
  return std::make_unique<MemoryScan>(*this, SelectByName(*batch_, options.columns),
                                      std::move(rows));
}

/// Declares `name` from a Result, or ends the test.
#define KINJO_ASSERT_RESULT(name, expression)                \
  auto name##_result = (expression);                         \
  ASSERT_TRUE(name##_result.ok()) << name##_result.status(); \
  auto name = std::move(name##_result).ValueUnsafe()

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
