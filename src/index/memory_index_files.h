// The files of an index segment held in memory, for tests of the rooms above: float32 vectors over
// given centroids, as they are or coded by a given codebook.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "format/index_file/index_files.h"

namespace kinjo::index {

using FloatVectors = std::vector<std::vector<float>>;

inline float PlainL2(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t j = 0; j < a.size(); ++j) {
    const double difference = static_cast<double>(a[j]) - static_cast<double>(b[j]);
    sum += difference * difference;
  }
  return static_cast<float>(sum);
}

/// One segment; each row goes to its nearest centroid under l2. Reads are thread-safe.
class MemoryIndexFiles final : public format::IndexFiles {
 public:
  struct Row {
    uint64_t row_id;
    std::vector<float> vector;
  };

  /// With a codebook of 256 values IVF_PQ with one element a sub-vector, else IVF_FLAT.
  MemoryIndexFiles(const std::string& metric, const FloatVectors& centroids,
                   const std::vector<Row>& rows, const std::vector<float>& codebook = {})
      : width_(centroids[0].size()), parts_(centroids.size()) {
    std::vector<std::vector<uint64_t>> ids(centroids.size());
    FloatVectors members(centroids.size());
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
  arrow::Result<format::PartitionRows> ReadRowIds(uint64_t partition) override {
    if (broken_.contains(partition)) return base::Io("the disk is gone");
    return format::PartitionRows{.num_rows = parts_[partition].num_rows,
                                 .row_ids = parts_[partition].row_ids};
  }
  arrow::Status ReadCodes(uint64_t partition, format::PartitionRows* rows) override {
    reads_.fetch_add(1);
    *rows = parts_[partition];
    return arrow::Status::OK();
  }

  /// Partitions whose codes were read so far.
  int64_t reads() const { return reads_.load(); }
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
  std::atomic<int64_t> reads_{0};
};

}  // namespace kinjo::index
