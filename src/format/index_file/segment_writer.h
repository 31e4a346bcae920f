// Writing the two files of one vector index segment, partition after partition: the counterpart of
// index_files.h. docs/format/index-file.md has the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow/io/interfaces.h"
#include "base/error.h"
#include "format/index_file/graph_model.h"
#include "format/index_file/index_files.h"

namespace kinjo::format {

/// How the graphs of a segment were built.
struct GraphParams {
  uint32_t m = 0;
  uint32_t ef_construction = 0;
  uint32_t max_level = 0;
};

/// What a segment says beside its rows. A rotation of RQ must be fast. Codes of PQ are transposed
/// and sign bits of RQ packed, whatever the models here say.
struct SegmentModel {
  IndexKind kind;
  std::string distance_type;  ///< "l2", "cosine", "dot", "hamming"
  Tensor centroids;           ///< [partitions, dim], in the column's element type
  QuantizerModel quantizer;
  std::optional<double> loss;  ///< of training: the sum over its rows
  GraphParams graphs;          ///< kind.has_graph only
};

/// "IVF_PQ", "IVF_HNSW_SQ", ...
std::string IndexTypeName(IndexKind kind);

/// The rows of one partition, laid out as the file has them.
struct PartitionToWrite {
  uint64_t num_rows = 0;
  std::shared_ptr<arrow::Buffer> row_ids;  ///< num_rows uint64
  /// The other columns of auxiliary.idx, in their order: codes of PQ transposed, sign bits of RQ
  /// packed. FLAT, PQ, SQ: the codes. RQ: sign bits, add, scale and error factors (float); of
  /// several bits also ex codes and the add and scale factors of all bits.
  std::vector<std::shared_ptr<arrow::Buffer>> columns;
  // kind.has_graph only: the graph over the rows, and of each level how far its neighbours are.
  const PartitionGraph* graph = nullptr;
  const std::vector<std::vector<float>>* distances = nullptr;
};

/// What was written.
struct WrittenSegment {
  uint64_t num_rows = 0;
  uint64_t index_bytes = 0;      ///< size of index.idx
  uint64_t auxiliary_bytes = 0;  ///< size of auxiliary.idx
};

/// Not thread-safe. Streams are neither flushed nor closed. After an error the files are of no use.
class SegmentWriter {
 public:
  static arrow::Result<std::unique_ptr<SegmentWriter>> Make(
      std::shared_ptr<arrow::io::OutputStream> index,
      std::shared_ptr<arrow::io::OutputStream> auxiliary, SegmentModel model);
  virtual ~SegmentWriter() = default;

  /// Adds the next partition; one may have no rows.
  virtual arrow::Status WritePartition(const PartitionToWrite& partition) = 0;
  /// Requires as many partitions as centroids. Call it once.
  virtual arrow::Result<WrittenSegment> Finish() = 0;
};

}  // namespace kinjo::format
