#include "index/built_files.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "index/row_encoder.h"
#include "index/shuffle.h"

namespace kinjo::index {

namespace {

constexpr int64_t kEncodeRows = 65536;

class BuiltFiles final : public format::IndexFiles {
 public:
  BuiltFiles(format::IvfModel ivf, format::QuantizerModel quantizer,
             std::vector<format::PartitionRows> partitions)
      : ivf_(std::move(ivf)),
        quantizer_(std::move(quantizer)),
        partitions_(std::move(partitions)) {}

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return static_cast<uint32_t>(ivf_.centroids.cols); }
  arrow::Result<format::PartitionRows> ReadRowIds(uint64_t partition) override {
    return format::PartitionRows{.num_rows = partitions_[partition].num_rows,
                                 .row_ids = partitions_[partition].row_ids};
  }
  arrow::Status ReadCodes(uint64_t partition, format::PartitionRows* rows) override {
    *rows = partitions_[partition];
    return arrow::Status::OK();
  }

 private:
  const format::IvfModel ivf_;
  const format::QuantizerModel quantizer_;
  const std::vector<format::PartitionRows> partitions_;
};

/// Copies of the rows that a model is trained on, of all pieces.
class SampleCopy {
 public:
  SampleCopy(std::span<const VectorsWithIds> rows, int64_t count, uint64_t seed) {
    const ColumnVectors& first = rows.front().vectors;
    int64_t total = 0;
    for (const VectorsWithIds& piece : rows) total += piece.vectors.num_rows;
    const std::vector<int64_t> positions = SamplePositions(total, count, seed);
    const auto row_bytes = static_cast<size_t>(first.dim) * format::ElementBytes(first.type);
    data_.resize(positions.size() * row_bytes);
    validity_.resize(positions.size() / 8 + 1, 0);
    size_t piece = 0;
    int64_t start = 0;  // of the piece
    for (size_t i = 0; i < positions.size(); ++i) {
      while (positions[i] >= start + rows[piece].vectors.num_rows) {
        start += rows[piece++].vectors.num_rows;
      }
      const ColumnVectors& from = rows[piece].vectors;
      const int64_t row = positions[i] - start;
      if (!from.is_valid(row)) continue;
      std::memcpy(data_.data() + i * row_bytes, from.row(row), row_bytes);
      validity_[i / 8] = static_cast<uint8_t>(validity_[i / 8] | 1 << i % 8);
    }
    vectors_ = {.type = first.type,
                .data = data_.data(),
                .num_rows = static_cast<int64_t>(positions.size()),
                .dim = first.dim,
                .validity = validity_.data()};
  }

  const ColumnVectors& vectors() const { return vectors_; }

 private:
  std::vector<uint8_t> data_;
  std::vector<uint8_t> validity_;
  ColumnVectors vectors_;
};

ColumnVectors Slice(const ColumnVectors& vectors, int64_t first, int64_t count) {
  ColumnVectors slice = vectors;
  slice.data = vectors.row(first);
  slice.num_rows = count;
  slice.validity_offset = vectors.validity_offset + first;
  return slice;
}

}  // namespace

arrow::Result<std::shared_ptr<IvfSegment>> MakeSegmentInMemory(
    format::IvfModel ivf, format::QuantizerModel quantizer,
    std::vector<format::PartitionRows> partitions) {
  ivf.offsets.clear();
  ivf.lengths.clear();
  uint64_t offset = 0;
  for (const format::PartitionRows& rows : partitions) {
    ivf.offsets.push_back(offset);
    ivf.lengths.push_back(rows.num_rows);
    offset += rows.num_rows;
  }
  return IvfSegment::Make(
      std::make_shared<BuiltFiles>(std::move(ivf), std::move(quantizer), std::move(partitions)));
}

arrow::Result<std::shared_ptr<IvfSegment>> BuildSegment(std::span<const VectorsWithIds> rows,
                                                        const TrainingOptions& options,
                                                        const BuildContext& context) {
  const ColumnVectors& first = rows.front().vectors;
  ARROW_RETURN_NOT_OK(CheckTrainingOptions(options, first.type, first.dim));
  if (const auto kind = format::ParseIndexKind(options.index_type); kind->has_graph) {
    return base::Invalid("An index of type ", options.index_type,
                         " isn't built in memory; one without a graph is");
  }
  int64_t total = 0;
  for (const VectorsWithIds& piece : rows) total += piece.vectors.num_rows;
  TrainedModel model;
  {
    const SampleCopy sample(rows, TrainingRows(options, total), options.seed);
    ARROW_ASSIGN_OR_RAISE(model, TrainModel(sample.vectors(), options, context));
  }
  ARROW_ASSIGN_OR_RAISE(const auto encoder, RowEncoder::Make(model.ivf, model.quantizer));
  PartitionShuffle shuffle(encoder->num_partitions(), encoder->record_bytes(),
                           std::numeric_limits<int64_t>::max(), {});
  const BuildContext silent{.pool = context.pool, .cancel = context.cancel, .progress = {}};
  for (const VectorsWithIds& piece : rows) {
    for (int64_t at = 0; at < piece.vectors.num_rows; at += kEncodeRows) {
      const int64_t count = std::min(kEncodeRows, piece.vectors.num_rows - at);
      EncodedRows encoded;
      ARROW_RETURN_NOT_OK(encoder->Encode(
          Slice(piece.vectors, at, count),
          piece.row_ids.subspan(static_cast<size_t>(at), static_cast<size_t>(count)), silent,
          &encoded));
      ARROW_RETURN_NOT_OK(shuffle.Add(encoded));
    }
  }
  std::vector<format::PartitionRows> partitions;
  ARROW_RETURN_NOT_OK(
      shuffle.ForEachPartition(silent, [&](int64_t, const uint8_t* records, int64_t num_rows) {
        partitions.push_back(ToPartitionRows(*encoder, encoder->Store(records, num_rows)));
        return arrow::Status::OK();
      }));
  return MakeSegmentInMemory(std::move(model.ivf), std::move(model.quantizer),
                             std::move(partitions));
}

int64_t SegmentBytes(const TrainingOptions& options, format::ElementType type, int64_t dim,
                     int64_t num_rows) {
  const int64_t element = format::ElementBytes(type);
  int64_t code = dim * element;
  int64_t model = options.num_partitions * dim * element;
  switch (format::ParseIndexKind(options.index_type).value_or(format::IndexKind{}).quantizer) {
    case format::QuantizerKind::kPq:
      code = options.num_sub_vectors * options.num_bits / 8;
      model += dim * element << options.num_bits;
      break;
    case format::QuantizerKind::kSq:
      code = dim;
      break;
    case format::QuantizerKind::kRq:
      code = dim / 8 + 12;
      if (options.num_bits > 1) {
        code += 8 + format::RqExCodeBytes(static_cast<uint32_t>(dim),
                                          static_cast<uint32_t>(options.num_bits - 1));
      }
      break;
    case format::QuantizerKind::kFlat:
      break;
  }
  return model + num_rows * (kRowIdBytes + code);
}

}  // namespace kinjo::index
