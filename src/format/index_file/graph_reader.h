// The neighbour graphs of an IVF_HNSW_* index: one a partition, in index.idx. Every id and size is
// checked here, so that a search may follow edges without looking.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/index_file/graph_model.h"
#include "format/index_file/index_files.h"
#include "format/index_file/index_metadata.h"

namespace kinjo::format {

/// Reads the graphs of one segment. Immutable; thread-safe.
class GraphReader {
 public:
  /// `index` is index.idx of an index with this model. A graph that contradicts the model (nodes
  /// that aren't rows, an entry point that isn't a node, levels that aren't one after another) is
  /// `corrupt`.
  static arrow::Result<std::unique_ptr<GraphReader>> Open(std::shared_ptr<LanceFile> index,
                                                          const IvfModel& ivf);

  /// Reads one partition's graph. Neighbours that aren't nodes are left out, as Lance does.
  arrow::Result<PartitionGraph> Read(uint64_t partition) const;

  /// The most that a graph takes in memory when no node has more neighbours than the file says.
  uint64_t graph_bytes(uint64_t partition) const;

 private:
  /// Where a partition's graph lies, and its shape.
  struct Part {
    uint64_t first_row = 0;
    uint64_t num_nodes = 0;
    GraphMetadata shape;
  };

  GraphReader(std::shared_ptr<LanceFile> index, std::vector<Part> parts, const Field* nodes,
              const Field* neighbors)
      : index_(std::move(index)), parts_(std::move(parts)), nodes_(nodes), neighbors_(neighbors) {}

  static arrow::Status CheckPart(const LanceFile& index, size_t partition, uint64_t num_rows,
                                 const Part& part);
  arrow::Result<GraphLevel> ReadLevel(uint64_t partition, size_t level) const;
  arrow::Status ReadNodes(uint64_t partition, size_t level, RowRange rows, GraphLevel* out) const;
  arrow::Status ReadNeighbors(uint64_t partition, RowRange rows, GraphLevel* out) const;

  const std::shared_ptr<LanceFile> index_;
  const std::vector<Part> parts_;
  const Field* const nodes_;  // both point into the schema of index_
  const Field* const neighbors_;
};

}  // namespace kinjo::format
