// Datasets and plans held in memory for the tests of operators: any columns, fragments, deletions,
// row ids that aren't addresses, and IVF_FLAT and IVF_PQ segments over given centroids.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrow/api.h"
#include "dataset/dataset.h"
#include "dataset/row_mask.h"
#include "exec/operators/operator.h"
#include "exec/operators/row_gather.h"
#include "exec/operators/vector_query.h"
#include "index/ivf_segment.h"

namespace kinjo::exec {

/// Vectors of one width; an empty one stands for null.
using Vectors = std::vector<std::vector<float>>;

inline std::shared_ptr<arrow::Array> MakeVectors(const Vectors& vectors, int32_t width) {
  auto values = std::make_shared<arrow::FloatBuilder>();
  arrow::FixedSizeListBuilder builder(arrow::default_memory_pool(), values, width);
  for (const auto& vector : vectors) {
    if (vector.empty()) {
      if (!builder.AppendNull().ok()) std::abort();
    } else if (!builder.Append().ok() || !values->AppendValues(vector).ok()) {
      std::abort();
    }
  }
  return builder.Finish().ValueOrDie();
}

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> MakeArray(const std::vector<T>& values) {
  Builder builder;
  if (!builder.AppendValues(values).ok()) std::abort();
  return builder.Finish().ValueOrDie();
}

inline std::shared_ptr<arrow::RecordBatch> MakeBatch(
    const std::vector<std::pair<std::string, std::shared_ptr<arrow::Array>>>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), arrays[0]->length(), arrays);
}

inline float PlainL2(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    const double difference = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += difference * difference;
  }
  return static_cast<float>(sum);
}

/// One segment over float32 vectors; each row goes to its nearest centroid under l2.
class FixtureFiles final : public format::IndexFiles {
 public:
  struct Row {
    uint64_t row_id;
    std::vector<float> vector;
  };

  /// With a codebook of 256 values IVF_PQ with one element a sub-vector, else IVF_FLAT.
  FixtureFiles(const std::string& metric, const Vectors& centroids, const std::vector<Row>& rows,
               const std::vector<float>& codebook)
      : width_(centroids[0].size()), parts_(centroids.size()) {
    std::vector<std::vector<uint64_t>> ids(centroids.size());
    Vectors members(centroids.size());
    for (const Row& row : rows) {
      size_t best = 0;
      for (size_t p = 1; p < centroids.size(); ++p) {
        if (PlainL2(row.vector, centroids[p]) < PlainL2(row.vector, centroids[best])) best = p;
      }
      ids[best].push_back(row.row_id);
      members[best].insert(members[best].end(), row.vector.begin(), row.vector.end());
    }
    ivf_.index_type = codebook.empty() ? "IVF_FLAT" : "IVF_PQ";
    ivf_.kind = *format::ParseIndexKind(ivf_.index_type);
    ivf_.distance_type = metric;
    std::vector<float> matrix;
    for (size_t p = 0; p < centroids.size(); ++p) {
      matrix.insert(matrix.end(), centroids[p].begin(), centroids[p].end());
      ivf_.offsets.push_back(p == 0 ? 0 : ivf_.offsets.back() + ivf_.lengths.back());
      ivf_.lengths.push_back(ids[p].size());
      parts_[p].num_rows = ids[p].size();
      parts_[p].row_ids = arrow::Buffer::FromVector(ids[p]);
      StoreCodes(p, centroids[p], members[p], codebook);
    }
    ivf_.centroids = {.type = format::ElementType::kFloat32,
                      .rows = centroids.size(),
                      .cols = width_,
                      .data = arrow::Buffer::FromVector(matrix)};
    if (!codebook.empty()) StoreCodebook(codebook);
  }

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return static_cast<uint32_t>(width_); }
  arrow::Result<format::PartitionRows> ReadPartition(uint64_t partition) override {
    if (broken_.contains(partition)) return base::Io("the disk is gone");
    return parts_[partition];
  }
  void BreakPartition(uint64_t partition) { broken_.insert(partition); }

 private:
  void StoreCodes(size_t partition, const std::vector<float>& centroid,
                  const std::vector<float>& members, const std::vector<float>& codebook) {
    format::PartitionRows& part = parts_[partition];
    if (codebook.empty()) {
      part.code_bytes = static_cast<uint32_t>(width_ * sizeof(float));
      part.codes = arrow::Buffer::FromVector(members);
      return;
    }
    part.code_bytes = static_cast<uint32_t>(width_);
    std::vector<uint8_t> codes(members.size());  // a plane for each element
    for (size_t i = 0; i < members.size(); ++i) {
      const float residual = members[i] - centroid[i % width_];
      size_t best = 0;
      for (size_t c = 1; c < codebook.size(); ++c) {
        if (std::abs(codebook[c] - residual) < std::abs(codebook[best] - residual)) best = c;
      }
      codes[i % width_ * part.num_rows + i / width_] = static_cast<uint8_t>(best);
    }
    part.codes = arrow::Buffer::FromVector(codes);
  }

  void StoreCodebook(const std::vector<float>& codebook) {
    format::PqCodebook pq;
    pq.num_bits = 8;
    pq.num_sub_vectors = static_cast<uint32_t>(width_);
    pq.dim = static_cast<uint32_t>(width_);
    std::vector<float> values;
    for (size_t m = 0; m < width_; ++m) {
      values.insert(values.end(), codebook.begin(), codebook.end());
    }
    pq.codebook = {.type = format::ElementType::kFloat32,
                   .rows = values.size(),
                   .cols = 1,
                   .data = arrow::Buffer::FromVector(values)};
    quantizer_ = std::move(pq);
  }

  size_t width_;
  format::IvfModel ivf_;
  format::QuantizerModel quantizer_;
  std::vector<format::PartitionRows> parts_;
  std::set<uint64_t> broken_;
};

/// Batches of addresses and rows, 64 rows a batch.
class FixtureScan final : public dataset::Scan {
 public:
  FixtureScan(std::shared_ptr<arrow::RecordBatch> batch, std::vector<int64_t> rows,
              std::vector<uint64_t> addresses)
      : batch_(std::move(batch)), rows_(std::move(rows)), addresses_(std::move(addresses)) {}

  arrow::Result<dataset::ScanBatch> Next() override {
    dataset::ScanBatch out;
    if (next_ == rows_.size()) return out;
    const size_t count = std::min<size_t>(64, rows_.size() - next_);
    ARROW_ASSIGN_OR_RAISE(out.batch, GatherRows(*batch_, std::span(rows_).subspan(next_, count)));
    out.addresses.assign(addresses_.begin() + static_cast<int64_t>(next_),
                         addresses_.begin() + static_cast<int64_t>(next_ + count));
    next_ += count;
    return out;
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<int64_t> rows_;
  std::vector<uint64_t> addresses_;
  size_t next_ = 0;
};

/// A dataset over one batch; fragments of `fragment_rows` rows.
class FixtureDataset final : public dataset::Dataset {
 public:
  FixtureDataset(std::shared_ptr<arrow::RecordBatch> batch, int64_t fragment_rows)
      : batch_(std::move(batch)), fragment_rows_(fragment_rows) {
    for (int64_t row = 0; row < batch_->num_rows(); ++row) {
      if (row % fragment_rows == 0) fragments_.push_back({.id = fragments_.size()});
      ++fragments_.back().physical_rows;
      SetRowId(row, AddressOf(row));
    }
  }

  uint64_t AddressOf(int64_t row) const {
    return (static_cast<uint64_t>(row / fragment_rows_) << 32) |
           static_cast<uint64_t>(row % fragment_rows_);
  }
  int64_t RowOf(uint64_t address) const {
    return static_cast<int64_t>(address >> 32) * fragment_rows_ +
           static_cast<int64_t>(address & 0xffffffff);
  }
  /// As stable row ids would: ids that say nothing about addresses. Before AddIndex.
  void SetRowId(int64_t row, uint64_t id) {
    row_ids_.resize(static_cast<size_t>(batch_->num_rows()));
    row_ids_[row] = id;
    row_of_id_[id] = row;
  }
  void Delete(int64_t row) {
    if (deleted_.insert(row).second) ++fragments_[row / fragment_rows_].deleted_rows;
  }
  bool live(int64_t row) const { return !deleted_.contains(row); }

  /// One segment for each list of fragments.
  void AddIndex(const std::string& name, const std::string& column, const std::string& metric,
                const std::vector<std::vector<uint64_t>>& segments, const Vectors& centroids,
                const std::vector<float>& codebook = {}) {
    dataset::IndexInfo info{.name = name,
                            .column = column,
                            .type = codebook.empty() ? "IVF_FLAT" : "IVF_PQ",
                            .metric = metric};
    const auto array = batch_->GetColumnByName(column);
    for (const auto& fragment_ids : segments) {
      std::vector<FixtureFiles::Row> rows;
      for (int64_t row = 0; row < batch_->num_rows(); ++row) {
        const uint64_t fragment = AddressOf(row) >> 32;
        if (std::count(fragment_ids.begin(), fragment_ids.end(), fragment) == 0) continue;
        for (auto& vector : VectorsOf(*array, row)) {
          rows.push_back({row_ids_[row], std::move(vector)});
        }
      }
      info.segments.push_back({.uuid = name + "-" + std::to_string(info.segments.size()),
                               .fragment_ids = fragment_ids});
      files_[info.segments.back().uuid] =
          std::make_shared<FixtureFiles>(metric, centroids, rows, codebook);
    }
    indexes_.push_back(std::move(info));
  }
  FixtureFiles& files(const std::string& uuid) { return *files_.at(uuid); }
  std::vector<dataset::IndexInfo>& mutable_indexes() { return indexes_; }

  const std::string& uri() const override { return uri_; }
  uint64_t version() const override { return 1; }
  std::vector<uint64_t> versions() const override { return {1}; }
  const std::string& data_format_version() const override { return uri_; }
  const format::Schema& schema() const override { return schema_; }
  std::shared_ptr<arrow::Schema> arrow_schema() const override { return batch_->schema(); }
  uint64_t num_rows() const override { return row_ids_.size() - deleted_.size(); }
  const std::vector<dataset::FragmentInfo>& fragments() const override { return fragments_; }
  const io::IoCounters& io_counters() const override { return counters_; }

  arrow::Result<std::unique_ptr<dataset::Scan>> MakeScan(
      const dataset::ScanOptions& options) override {
    ++num_scans_;
    std::vector<int64_t> rows;
    std::vector<uint64_t> addresses;
    for (int64_t row = 0; row < batch_->num_rows(); ++row) {
      const uint64_t address = AddressOf(row);
      const auto& ids = options.fragment_ids;
      if (!live(row) || (options.rows != nullptr && !options.rows->Contains(address))) continue;
      if (ids && std::count(ids->begin(), ids->end(), address >> 32) == 0) continue;
      rows.push_back(row);
      addresses.push_back(address);
    }
    return std::make_unique<FixtureScan>(Select(options.columns), std::move(rows),
                                         std::move(addresses));
  }
  arrow::Result<std::shared_ptr<arrow::RecordBatch>> Take(
      const std::vector<std::string>& columns,
      std::span<const dataset::RowAddress> addresses) override {
    if (!std::is_sorted(addresses.begin(), addresses.end(), std::less_equal<>())) {
      return base::Internal("addresses must rise, each once");
    }
    std::vector<int64_t> rows;
    for (const uint64_t address : addresses) rows.push_back(RowOf(address));
    return GatherRows(*Select(columns), rows);
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
      const auto found = row_of_id_.find(row_ids[i]);
      addresses[i] = dataset::kDeadRow;
      if (found == row_of_id_.end() || !live(found->second)) continue;
      const uint64_t address = AddressOf(found->second);
      const auto& covered = segment.fragment_ids;
      if (std::count(covered.begin(), covered.end(), address >> 32) > 0) addresses[i] = address;
    }
    return arrow::Status::OK();
  }
  arrow::Status RowIds(std::span<const dataset::RowAddress> addresses,
                       std::span<uint64_t> row_ids) const override {
    for (size_t i = 0; i < addresses.size(); ++i) row_ids[i] = row_ids_[RowOf(addresses[i])];
    return arrow::Status::OK();
  }

  int64_t num_scans() const { return num_scans_; }

 private:
  /// The vectors of a row: one, none of a null, or those of its list.
  static Vectors VectorsOf(const arrow::Array& array, int64_t row) {
    Vectors out;
    if (array.IsNull(row)) return out;
    if (array.type_id() == arrow::Type::LIST) {
      const auto items = static_cast<const arrow::ListArray&>(array).value_slice(row);
      for (int64_t i = 0; i < items->length(); ++i) out.push_back(VectorsOf(*items, i)[0]);
      return out;
    }
    const auto& lists = static_cast<const arrow::FixedSizeListArray&>(array);
    const auto& values = static_cast<const arrow::FloatArray&>(*lists.values());
    const float* begin = values.raw_values() + lists.value_offset(row);
    out.emplace_back(begin, begin + lists.value_length(row));
    return out;
  }

  std::shared_ptr<arrow::RecordBatch> Select(const std::vector<std::string>& names) const {
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (const std::string& name : names) {
      fields.push_back(batch_->schema()->GetFieldByName(name));
      arrays.push_back(batch_->GetColumnByName(name));
    }
    return arrow::RecordBatch::Make(arrow::schema(fields), batch_->num_rows(), arrays);
  }

  std::string uri_ = "fixture.lance";
  std::shared_ptr<arrow::RecordBatch> batch_;
  int64_t fragment_rows_;
  std::vector<uint64_t> row_ids_;
  std::unordered_map<uint64_t, int64_t> row_of_id_;
  std::set<int64_t> deleted_;
  format::Schema schema_;
  io::IoCounters counters_;
  std::vector<dataset::FragmentInfo> fragments_;
  std::vector<dataset::IndexInfo> indexes_;
  std::map<std::string, std::shared_ptr<FixtureFiles>> files_;
  int64_t num_scans_ = 0;
};

/// A pool and a run of a plan.
struct TestRun {
  explicit TestRun(int threads = 1) : pool(threads), run(&pool, base::CancelToken()) {}
  base::ThreadPool pool;
  PlanRun run;
};

/// All rows of a plan as one batch of its schema.
inline arrow::Result<std::shared_ptr<arrow::RecordBatch>> RunPlan(const Operator& plan,
                                                                  PlanRun* run) {
  ARROW_ASSIGN_OR_RAISE(const auto batches, CollectBatches(plan, run));
  for (const auto& batch : batches) {
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    if (!batch->schema()->Equals(*plan.schema())) {
      return base::Internal(plan.name(), " gave a batch of another schema than it says");
    }
  }
  if (batches.empty()) return arrow::RecordBatch::MakeEmpty(plan.schema());
  return arrow::ConcatenateRecordBatches(batches);
}

template <typename ArrayType>
const ArrayType& ColumnOf(const arrow::RecordBatch& batch, const std::string& name) {
  return static_cast<const ArrayType&>(*batch.GetColumnByName(name));
}

/// Declares `name` from a Result, or ends the test.
#define KINJO_ASSERT_RESULT(name, expression)                \
  auto name##_result = (expression);                         \
  ASSERT_TRUE(name##_result.ok()) << name##_result.status(); \
  auto name = std::move(name##_result).ValueUnsafe()

}  // namespace kinjo::exec
