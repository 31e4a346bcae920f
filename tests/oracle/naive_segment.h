// One index segment as docs/format/index-file.md describes it, read row by row and scored query by
// query: the slow twin of src/index. Shares the format's readers with the engine and nothing else.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/index_file/index_files.h"
#include "tests/oracle/naive_numbers.h"

namespace kinjo::oracle {

/// A left vector as a segment compares it.
struct NaiveQuery {
  Numbers values;
  Numbers rotated;  ///< RQ only
};

class NaiveSegment {
 public:
  explicit NaiveSegment(std::shared_ptr<format::IndexFiles> files);

  size_t num_partitions() const { return files_->ivf().num_partitions(); }
  uint64_t partition_rows(size_t partition) const { return files_->ivf().lengths[partition]; }
  const std::string& metric() const { return files_->ivf().distance_type; }

  NaiveQuery Prepare(const Numbers& left) const;

  /// Partitions and their distances, nearest first.
  std::vector<std::pair<float, uint32_t>> Rank(const NaiveQuery& query) const;

  /// Row ids of a partition in storage order.
  const std::vector<uint64_t>& RowIds(size_t partition) const { return row_ids_[partition]; }
  /// Whether a stored row has a distance at all.
  bool CanMatch(size_t partition, size_t row) const;
  /// The distance without a refine.
  float Distance(const NaiveQuery& query, size_t partition, size_t row) const;

 private:
  format::ElementType type() const { return files_->ivf().centroids.type; }
  format::QuantizerKind kind() const { return files_->ivf().kind.quantizer; }
  bool cosine() const { return metric() == "cosine"; }
  size_t dim() const { return files_->dim(); }
  bool keeps_digits() const;
  Numbers Row(size_t partition, size_t row) const;
  Numbers FlatRow(size_t partition, size_t row) const;
  Numbers PqRow(size_t partition, size_t row) const;
  Numbers SqRow(size_t partition, size_t row) const;
  Numbers RqRow(size_t partition, size_t row) const;
  Numbers Rotate(Numbers vector) const;
  double SqCode(double value) const;
  double FlatDistance(const Numbers& query, const Numbers& row) const;
  double PqDistance(const Numbers& query, size_t partition, size_t row) const;
  double SqDistance(const Numbers& query, size_t partition, size_t row) const;
  double RqDistance(const NaiveQuery& query, size_t partition, size_t row) const;

  std::shared_ptr<format::IndexFiles> files_;
  std::vector<Numbers> centroids_;
  std::vector<Numbers> rotated_centroids_;
  std::vector<std::vector<Numbers>> rows_;  // of each partition, as coded
  std::vector<format::PartitionRows> partitions_;
  std::vector<std::vector<uint64_t>> row_ids_;
};

}  // namespace kinjo::oracle
