// Index segments of every kind made in memory from a seed: rows put to their nearest centroid and
// coded as Lance would code them, well enough; what they mean is for the two sides of a test to
// say.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "format/index_file/index_files.h"
#include "tests/oracle/naive_numbers.h"

namespace kinjo::oracle {

/// What a segment is made of.
struct IndexRecipe {
  std::string metric;
  format::ElementType type = format::ElementType::kFloat32;
  format::IndexKind kind;
  std::string index_type;  ///< what `kind` is called
  size_t dim = 8;
  size_t partitions = 4;
  unsigned bits = 8;  ///< of PQ: 4 or 8; of RQ: 1 to 9
  bool transposed = true;
  bool packed = true;
  bool matrix = false;  ///< RQ turns vectors by a matrix
};

/// A row to be indexed: finite, and under cosine not zero.
struct IndexedRow {
  uint64_t row_id;
  Numbers vector;
};

class RandomIndexFiles final : public format::IndexFiles {
 public:
  RandomIndexFiles(const IndexRecipe& recipe, const std::vector<IndexedRow>& rows,
                   std::mt19937_64* random);

  const format::IvfModel& ivf() const override { return ivf_; }
  const format::QuantizerModel& quantizer() const override { return quantizer_; }
  uint32_t dim() const override { return static_cast<uint32_t>(recipe_.dim); }
  arrow::Result<format::PartitionRows> ReadRowIds(uint64_t partition) override {
    return format::PartitionRows{.num_rows = partitions_[partition].num_rows,
                                 .row_ids = partitions_[partition].row_ids};
  }
  arrow::Status ReadCodes(uint64_t partition, format::PartitionRows* rows) override {
    *rows = partitions_[partition];
    return arrow::Status::OK();
  }
  arrow::Result<format::PartitionGraph> ReadGraph(uint64_t partition) override {
    return graphs_[partition];
  }
  uint64_t graph_bytes(uint64_t partition) const override {
    return graphs_.empty() ? 0 : static_cast<uint64_t>(graphs_[partition].size_bytes());
  }

 private:
  size_t Draw(size_t count) { return (*random_)() % count; }
  size_t Nearest(const Numbers& vector) const;
  Numbers Residual(const Numbers& vector, size_t partition) const;
  void MakeCentroids(const std::vector<IndexedRow>& rows);
  void MakeModel(const std::vector<IndexedRow>& rows);
  void MakeCodebook(const std::vector<IndexedRow>& rows);
  void MakeRotation();
  void CodePq(const std::vector<Numbers>& rows, size_t partition, format::PartitionRows* out);
  void CodeSq(const std::vector<Numbers>& rows, format::PartitionRows* out) const;
  void CodeRq(const std::vector<Numbers>& rows, size_t partition, format::PartitionRows* out);
  format::PartitionGraph MakeGraph(uint32_t nodes);

  const IndexRecipe recipe_;
  std::mt19937_64* random_;  // while the constructor runs
  format::IvfModel ivf_;
  format::QuantizerModel quantizer_;
  std::vector<Numbers> centroids_;
  Numbers codebook_;  // [sub-vector][entry][sub_dim]
  std::vector<format::PartitionRows> partitions_;
  std::vector<format::PartitionGraph> graphs_;
};

/// Elements as `type` stores them.
std::shared_ptr<arrow::Buffer> StoreElements(format::ElementType type, const Numbers& values);

}  // namespace kinjo::oracle
