#include "index/row_encoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "index/code_writer.h"
#include "index/elements.h"
#include "index/nearest_vectors.h"
#include "kernels/canonical_distance.h"

namespace kinjo::index {

namespace {

using kernels::Metric;

constexpr int64_t kItemRows = 1024;  // of a parallel loop

/// Rows that are kept and where they go, told before any is coded.
struct KeptRows {
  std::vector<uint32_t> positions;

  int64_t items() const {
    return (static_cast<int64_t>(positions.size()) + kItemRows - 1) / kItemRows;
  }
  std::span<const uint32_t> item(int64_t i) const {
    const auto first = static_cast<size_t>(i * kItemRows);
    return std::span(positions).subspan(
        first, std::min(positions.size() - first, static_cast<size_t>(kItemRows)));
  }
};

/// Calls body(item) for all items on the pool; before the first of them, beside().
template <class Body>
arrow::Status ForItems(const KeptRows& kept, const BuildContext& context,
                       const std::function<arrow::Status()>& beside, const Body& body) {
  const int64_t ahead = beside ? 1 : 0;
  return context.pool->ParallelFor(kept.items() + ahead, context.cancel, [&](int64_t item, int) {
    return item < ahead ? beside() : body(item - ahead);
  });
}

/// Partition + quantizer. T is float for float16 and float32 columns, double for float64.
template <typename T>
class RowEncoderImpl final : public RowEncoder {
 public:
  RowEncoderImpl(const format::IvfModel& ivf, Metric metric)
      : type_(ivf.centroids.type),
        dim_(static_cast<int64_t>(ivf.centroids.cols)),
        metric_(metric),
        centroids_(WidenTensor<T>(ivf.centroids)),
        nearest_(centroids_, dim_, metric == Metric::kDot ? Nearness::kDot : Nearness::kL2) {}

  arrow::Status MakeWriter(const format::QuantizerModel& quantizer) {
    bool any_finite = false;
    for (int64_t p = 0; p < num_partitions() && !any_finite; ++p) {
      any_finite = AllFinite(centroids_.data() + p * dim_, dim_);
    }
    if (!any_finite) return base::Invalid("No centroid of the index is finite");
    const CodeBasis<T> basis{centroids_, dim_, type_, metric_};
    if (const auto* pq = std::get_if<format::PqCodebook>(&quantizer)) {
      return MakePqWriter(basis, *pq).Value(&writer_);
    }
    if (const auto* rq = std::get_if<format::RqModel>(&quantizer)) {
      return MakeRqWriter(basis, *rq).Value(&writer_);
    }
    const auto* sq = std::get_if<format::SqModel>(&quantizer);
    writer_ = sq != nullptr ? MakeSqWriter(basis, *sq) : MakeFlatWriter(basis);
    return arrow::Status::OK();
  }

  const std::vector<CodeColumn>& columns() const override { return writer_->columns(); }
  int64_t num_partitions() const override { return static_cast<int64_t>(centroids_.size()) / dim_; }
  arrow::Status EncodeBeside(const ColumnVectors& vectors, std::span<const uint64_t> row_ids,
                             const BuildContext& context,
                             const std::function<arrow::Status()>& beside,
                             EncodedRows* out) const override;

 protected:
  void StoreColumn(size_t column, const uint8_t* records, int64_t num_rows,
                   uint8_t* out) const override {
    const bool stored =
        writer_->Store(column, records + ColumnOffset(column), record_bytes(), num_rows, out);
    if (!stored) RowEncoder::StoreColumn(column, records, num_rows, out);
  }

 private:
  const format::ElementType type_;
  const int64_t dim_;
  const Metric metric_;
  const std::vector<T> centroids_;
  const NearestVectors<T> nearest_;
  std::unique_ptr<CodeWriter<T>> writer_;
};

void StartRecords(std::span<const uint32_t> positions, std::span<const uint64_t> row_ids,
                  int64_t record_bytes, uint8_t* records) {
  for (const uint32_t position : positions) {
    std::memcpy(records, &row_ids[position], kRowIdBytes);
    records += record_bytes;
  }
}

template <typename T>
arrow::Status RowEncoderImpl<T>::EncodeBeside(const ColumnVectors& vectors,
                                              std::span<const uint64_t> row_ids,
                                              const BuildContext& context,
                                              const std::function<arrow::Status()>& beside,
                                              EncodedRows* out) const {
  *out = {};
  KeptRows kept;
  FindIndexedRows(vectors, metric_, &kept.positions, &out->left_out);
  out->partitions.resize(kept.positions.size());
  out->records.resize(kept.positions.size() * static_cast<size_t>(record_bytes()));
  std::atomic<int64_t> outside{0};
  ARROW_RETURN_NOT_OK(ForItems(kept, context, beside, [&](int64_t item) {
    const std::span<const uint32_t> positions = kept.item(item);
    const auto count = static_cast<int64_t>(positions.size());
    kernels::AlignedVector<T> rows(positions.size() * static_cast<size_t>(dim_));
    PrepareVectors(vectors, metric_, positions, rows.data());
    uint32_t* partitions = out->partitions.data() + item * kItemRows;
    nearest_.Find(rows.data(), dim_, count, partitions);
    uint8_t* records = out->records.data() + item * kItemRows * record_bytes();
    StartRecords(positions, row_ids, record_bytes(), records);
    outside +=
        writer_->Write(rows.data(), partitions, count, records + kRowIdBytes, record_bytes());
    return arrow::Status::OK();
  }));
  out->outside_rows = outside.load();
  return arrow::Status::OK();
}

/// uint8 under hamming, coded as it is.
class BitEncoder final : public RowEncoder {
 public:
  explicit BitEncoder(const format::IvfModel& ivf)
      : dim_(static_cast<int64_t>(ivf.centroids.cols)),
        centroids_(ivf.centroids.data->data(),
                   ivf.centroids.data->data() + ivf.centroids.rows * ivf.centroids.cols),
        columns_{{.name = "flat", .type = format::ElementType::kUint8, .width = dim_}} {}

  const std::vector<CodeColumn>& columns() const override { return columns_; }
  int64_t num_partitions() const override { return static_cast<int64_t>(centroids_.size()) / dim_; }
  arrow::Status EncodeBeside(const ColumnVectors& vectors, std::span<const uint64_t> row_ids,
                             const BuildContext& context,
                             const std::function<arrow::Status()>& beside,
                             EncodedRows* out) const override;

 private:
  uint32_t NearestPartition(const uint8_t* row) const {
    uint32_t nearest = 0;
    int64_t least = 8 * dim_ + 1;
    for (int64_t p = 0; p < num_partitions(); ++p) {
      const int64_t bits = kernels::HammingDistance(row, centroids_.data() + p * dim_, dim_);
      if (bits >= least) continue;
      least = bits;
      nearest = static_cast<uint32_t>(p);
    }
    return nearest;
  }

  const int64_t dim_;
  const std::vector<uint8_t> centroids_;
  const std::vector<CodeColumn> columns_;
};

arrow::Status BitEncoder::EncodeBeside(const ColumnVectors& vectors,
                                       std::span<const uint64_t> row_ids,
                                       const BuildContext& context,
                                       const std::function<arrow::Status()>& beside,
                                       EncodedRows* out) const {
  *out = {};
  KeptRows kept;
  FindIndexedRows(vectors, Metric::kHamming, &kept.positions, &out->left_out);
  out->partitions.resize(kept.positions.size());
  out->records.resize(kept.positions.size() * static_cast<size_t>(record_bytes()));
  return ForItems(kept, context, beside, [&](int64_t item) {
    const std::span<const uint32_t> positions = kept.item(item);
    uint8_t* records = out->records.data() + item * kItemRows * record_bytes();
    StartRecords(positions, row_ids, record_bytes(), records);
    for (size_t i = 0; i < positions.size(); ++i) {
      const uint8_t* row = vectors.row(positions[i]);
      out->partitions[item * kItemRows + static_cast<int64_t>(i)] = NearestPartition(row);
      std::memcpy(records + static_cast<int64_t>(i) * record_bytes() + kRowIdBytes, row,
                  static_cast<size_t>(dim_));
    }
    return arrow::Status::OK();
  });
}

template <typename T>
arrow::Result<std::unique_ptr<RowEncoder>> MakeEncoder(const format::IvfModel& ivf, Metric metric,
                                                       const format::QuantizerModel& quantizer) {
  auto encoder = std::make_unique<RowEncoderImpl<T>>(ivf, metric);
  ARROW_RETURN_NOT_OK(encoder->MakeWriter(quantizer));
  return encoder;
}

}  // namespace

int64_t RowEncoder::ColumnOffset(size_t column) const {
  int64_t offset = kRowIdBytes;
  for (size_t i = 0; i < column; ++i) offset += columns()[i].bytes();
  return offset;
}

int64_t RowEncoder::record_bytes() const { return ColumnOffset(columns().size()); }

void RowEncoder::StoreColumn(size_t column, const uint8_t* records, int64_t num_rows,
                             uint8_t* out) const {
  const auto bytes = static_cast<size_t>(columns()[column].bytes());
  const int64_t stride = record_bytes();
  const uint8_t* from = records + ColumnOffset(column);
  for (int64_t i = 0; i < num_rows; ++i, from += stride, out += bytes) {
    std::memcpy(out, from, bytes);
  }
}

StoredPartition RowEncoder::Store(const uint8_t* records, int64_t num_rows) const {
  StoredPartition stored;
  stored.num_rows = static_cast<uint64_t>(num_rows);
  std::vector<uint64_t> row_ids(stored.num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    std::memcpy(&row_ids[i], records + i * record_bytes(), kRowIdBytes);
  }
  stored.row_ids = arrow::Buffer::FromVector(std::move(row_ids));
  for (size_t column = 0; column < columns().size(); ++column) {
    std::vector<uint8_t> bytes(stored.num_rows * static_cast<size_t>(columns()[column].bytes()));
    if (num_rows > 0) StoreColumn(column, records, num_rows, bytes.data());
    stored.columns.push_back(arrow::Buffer::FromVector(std::move(bytes)));
  }
  return stored;
}

format::PartitionRows ToPartitionRows(const RowEncoder& encoder, const StoredPartition& stored) {
  format::PartitionRows rows;
  rows.num_rows = stored.num_rows;
  rows.row_ids = stored.row_ids;
  rows.codes = stored.columns[0];
  rows.code_bytes = static_cast<uint32_t>(encoder.columns()[0].bytes());
  if (stored.columns.size() > 4) {
    rows.ex_codes = stored.columns[4];
    rows.add_factors = stored.columns[5];
    rows.scale_factors = stored.columns[6];
  } else if (stored.columns.size() > 1) {
    rows.add_factors = stored.columns[1];
    rows.scale_factors = stored.columns[2];
  }
  return rows;
}

arrow::Result<std::unique_ptr<RowEncoder>> RowEncoder::Make(
    const format::IvfModel& ivf, const format::QuantizerModel& quantizer) {
  const std::optional<Metric> metric = kernels::ParseMetric(ivf.distance_type);
  if (!metric.has_value()) {
    return base::Invalid("metric is '", ivf.distance_type,
                         "'; rows are coded for l2, cosine, dot and hamming");
  }
  const bool bits = *metric == Metric::kHamming;
  const bool bytes = ivf.centroids.type == format::ElementType::kUint8;
  if (bits != bytes || (bits && !std::holds_alternative<format::FlatModel>(quantizer))) {
    return base::NotSupported("An index of type ", ivf.index_type, " over ",
                              format::ElementTypeName(ivf.centroids.type), " with metric ",
                              ivf.distance_type,
                              " isn't built; uint8 vectors are indexed for "
                              "hamming by IVF_FLAT and IVF_HNSW_FLAT");
  }
  if (bits) return std::make_unique<BitEncoder>(ivf);
  if (ivf.centroids.type == format::ElementType::kFloat64) {
    return MakeEncoder<double>(ivf, *metric, quantizer);
  }
  return MakeEncoder<float>(ivf, *metric, quantizer);
}

}  // namespace kinjo::index
