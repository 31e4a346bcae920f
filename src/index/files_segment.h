// What a segment of any kind knows from its files alone: what its partitions hold, and their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/index_file/index_files.h"
#include "index/ivf_segment.h"

namespace kinjo::index {

class FilesSegment : public IvfSegment {
 public:
  const std::string& index_type() const final { return files_->ivf().index_type; }
  int64_t num_partitions() const final {
    return static_cast<int64_t>(files_->ivf().num_partitions());
  }
  int64_t dim() const final { return files_->dim(); }
  format::ElementType element_type() const final { return files_->ivf().centroids.type; }
  uint64_t partition_rows(int64_t partition) const final {
    return files_->ivf().lengths[partition];
  }
  uint64_t partition_bytes(int64_t partition) const final {
    return files_->partition_bytes(partition);
  }
  arrow::Result<format::PartitionRows> LoadRowIds(int64_t partition) const final {
    return files_->ReadRowIds(static_cast<uint64_t>(partition));
  }
  arrow::Status LoadCodes(int64_t partition, format::PartitionRows* stored) const final {
    return files_->ReadCodes(static_cast<uint64_t>(partition), stored);
  }
  arrow::Result<std::vector<format::PartitionRows>> LoadRun(int64_t first,
                                                            int64_t count) const final {
    return files_->ReadRun(static_cast<uint64_t>(first), static_cast<uint64_t>(count));
  }

  bool has_graph() const final { return files_->ivf().kind.has_graph; }
  uint64_t graph_bytes(int64_t partition) const final { return files_->graph_bytes(partition); }
  arrow::Result<format::PartitionGraph> LoadGraph(int64_t partition) const final {
    return files_->ReadGraph(static_cast<uint64_t>(partition));
  }

 protected:
  explicit FilesSegment(std::shared_ptr<format::IndexFiles> files) : files_(std::move(files)) {}
  const format::IndexFiles& files() const { return *files_; }

 private:
  const std::shared_ptr<format::IndexFiles> files_;
};

}  // namespace kinjo::index
