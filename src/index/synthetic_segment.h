// Index segments made in memory for tests: clustered rows, a model drawn from them, codes written
// as Lance writes them, and the vectors that the codes stand for, decoded the slow way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/index_file/index_files.h"

namespace kinjo::index {

struct SyntheticOptions {
  std::string distance_type = "l2";
  format::ElementType type = format::ElementType::kFloat32;
  int num_bits = 0;  ///< of PQ codes; 0 = IVF_FLAT
  int64_t dim = 16;
  int64_t num_rows = 300;
  int64_t num_partitions = 5;
  int64_t num_sub_vectors = 4;
  bool transposed = true;
  double offset = 0;  ///< added to every element: how far from the origin the data lies
  uint64_t seed = 1;
};

/// A segment held in memory. All doubles below are exactly what the file's elements say.
class SyntheticFiles final : public format::IndexFiles {
 public:
  explicit SyntheticFiles(const SyntheticOptions& options);

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return static_cast<uint32_t>(options_.dim); }
  arrow::Result<format::PartitionRows> ReadRowIds(uint64_t partition) override {
    return format::PartitionRows{.num_rows = partitions_[partition].num_rows,
                                 .row_ids = partitions_[partition].row_ids};
  }
  arrow::Status ReadCodes(uint64_t partition, format::PartitionRows* rows) override {
    *rows = partitions_[partition];
    return arrow::Status::OK();
  }

  format::IvfModel& mutable_ivf() { return ivf_; }
  format::PqCodebook& mutable_pq() { return std::get<format::PqCodebook>(quantizer_); }
  format::PartitionRows& mutable_partition(int64_t partition) { return partitions_[partition]; }

  /// [num_partitions][dim].
  const std::vector<double>& centroids() const { return centroids_; }
  /// What row `position` of a partition stands for: the stored vector (FLAT) or the codebook
  /// entries (PQ: the residual for l2 and cosine).
  const double* decoded(int64_t partition, int64_t position) const {
    return decoded_[partition].data() + position * options_.dim;
  }
  /// Vectors like those indexed, [count][dim].
  std::vector<double> MakeQueries(int64_t count, uint64_t seed) const;

 private:
  std::vector<double> MakeRows(int64_t count, uint64_t seed) const;
  bool cosine() const { return options_.distance_type == "cosine"; }
  bool residual_codes() const { return options_.distance_type != "dot"; }
  format::Tensor ToTensor(std::vector<double>* values, int64_t cols) const;
  int64_t NearestPartition(const double* row) const;
  std::vector<double> Residual(const double* row, int64_t partition) const;
  void MakeCodebook(const std::vector<double>& rows);
  void AddRow(uint64_t row_id, const std::vector<double>& row);
  void Finish(int64_t partition);

  const SyntheticOptions options_;
  format::IvfModel ivf_;
  format::QuantizerModel quantizer_;
  std::vector<double> centroids_;
  std::vector<double> codebook_;
  std::vector<std::vector<uint64_t>> row_ids_;
  std::vector<std::vector<double>> decoded_;
  std::vector<std::vector<uint8_t>> codes_;  // row-major
  std::vector<format::PartitionRows> partitions_;
};

}  // namespace kinjo::index
