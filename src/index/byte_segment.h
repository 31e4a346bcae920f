// Index files whose codes are bytes, made in memory for tests: uint8 vectors under hamming, or the
// codes of a scalar quantizer.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "format/index_file/index_files.h"

namespace kinjo::index {

/// Three partitions of 40, 0 and 25 rows of random bytes, under graphs.
class ByteFiles final : public format::IndexFiles {
 public:
  struct Options {
    std::string metric = "hamming";
    format::QuantizerModel quantizer = format::FlatModel{};
    int64_t dim = 20;
  };

  explicit ByteFiles(Options options) : options_(std::move(options)) {
    const bool bits = options_.metric == "hamming";
    ivf_.index_type = bits ? "IVF_HNSW_FLAT" : "IVF_HNSW_SQ";
    ivf_.kind = *format::ParseIndexKind(ivf_.index_type);
    ivf_.distance_type = options_.metric;
    ivf_.lengths = {40, 0, 25};
    ivf_.offsets = {0, 40, 40};
    std::mt19937_64 random(3);
    const size_t elements = ivf_.lengths.size() * static_cast<size_t>(options_.dim);
    std::vector<float> floats(elements);
    for (float& value : floats) value = static_cast<float>(random() % 100) / 50 - 1;
    centroids_ = RandomBytes(elements, &random);
    ivf_.centroids = {.type = bits ? format::ElementType::kUint8 : format::ElementType::kFloat32,
                      .rows = ivf_.lengths.size(),
                      .cols = static_cast<uint64_t>(options_.dim),
                      .data = bits ? ToBuffer(centroids_) : ToBuffer(floats)};
    uint64_t next = 1000;
    for (const uint64_t rows : ivf_.lengths) {
      codes_.push_back(RandomBytes(rows * static_cast<size_t>(options_.dim), &random));
      row_ids_.emplace_back();
      for (uint64_t i = 0; i < rows; ++i) row_ids_.back().push_back(next++);
    }
  }

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return options_.quantizer; }
  uint32_t dim() const override { return static_cast<uint32_t>(options_.dim); }
  arrow::Result<format::PartitionRows> ReadRowIds(uint64_t partition) override {
    return format::PartitionRows{.num_rows = ivf_.lengths[partition],
                                 .row_ids = ToBuffer(row_ids_[partition])};
  }
  arrow::Status ReadCodes(uint64_t partition, format::PartitionRows* rows) override {
    rows->codes = ToBuffer(codes_[partition]);
    rows->code_bytes = dim();
    return arrow::Status::OK();
  }

  format::IvfModel& mutable_ivf() { return ivf_; }
  /// [num_partitions][dim], of hamming.
  const std::vector<uint8_t>& centroids() const { return centroids_; }
  const uint8_t* row(size_t partition, size_t position) const {
    return codes_[partition].data() + position * static_cast<size_t>(options_.dim);
  }

 private:
  static std::vector<uint8_t> RandomBytes(size_t count, std::mt19937_64* random) {
    std::vector<uint8_t> bytes(count);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());
    return bytes;
  }
  template <typename T>
  static std::shared_ptr<arrow::Buffer> ToBuffer(const std::vector<T>& values) {
    return arrow::Buffer::FromString(
        std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)));
  }

  const Options options_;
  format::IvfModel ivf_;
  std::vector<uint8_t> centroids_;
  std::vector<std::vector<uint8_t>> codes_;
  std::vector<std::vector<uint64_t>> row_ids_;
};

}  // namespace kinjo::index
