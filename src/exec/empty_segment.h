// An index segment for tests: one partition, no rows. Tests override what they look at.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "index/ivf_segment.h"

namespace kinjo::exec {

class EmptySegment : public index::IvfSegment {
 public:
  const std::string& index_type() const override { return index_type_; }
  kernels::Metric metric() const override { return kernels::Metric::kL2; }
  int64_t num_partitions() const override { return 1; }
  int64_t dim() const override { return 1; }
  format::ElementType element_type() const override { return format::ElementType::kFloat32; }
  uint64_t partition_rows(int64_t) const override { return 0; }
  uint64_t partition_bytes(int64_t) const override { return 0; }
  bool is_exact() const override { return true; }
  index::QueryBlock PrepareQueries(std::span<const double>) const override { return {}; }
  void RankPartitions(const index::QueryBlock&, int64_t begin, int64_t end, int64_t,
                      std::vector<std::vector<index::RankedPartition>>* out) const override {
    out->assign(static_cast<size_t>(end - begin), {{.partition = 0, .distance = 0}});
  }
  arrow::Result<format::PartitionRows> LoadRowIds(int64_t) const override {
    return format::PartitionRows{};
  }
  arrow::Status LoadCodes(int64_t, format::PartitionRows*) const override {
    return arrow::Status::OK();
  }
  void Decode(int64_t, const format::PartitionRows&, std::span<const uint64_t>, uint64_t,
              index::DecodedPartition*) const override {}
  double MoveQuery(int64_t, const double*, const index::DecodedPartition&, float*) const override {
    return 0;
  }
  float Distance(int64_t, const double*, const index::DecodedPartition&, int64_t) const override {
    return 0;
  }

 private:
  const std::string index_type_ = "IVF_FLAT";
};

}  // namespace kinjo::exec
