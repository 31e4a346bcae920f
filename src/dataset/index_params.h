// What is asked of a vector index, by Lance's words and defaults, and what the data makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "format/index_file/index_files.h"
#include "format/index_file/segment_writer.h"
#include "index/model_trainer.h"

namespace kinjo::dataset {

/// As given by a user; 0 or "" = chosen from the data (ResolveIndexParams).
struct IndexParams {
  std::string type = "IVF_PQ";
  std::string metric;  ///< l2, for uint8 hamming, unless given
  int64_t num_partitions = 0;
  int64_t target_partition_size = 0;  ///< rows a partition; only where num_partitions isn't given
  int64_t num_sub_vectors = 0;        ///< PQ
  int64_t num_bits = 0;               ///< PQ: 4 or 8; RQ: 1 to 9
  int64_t m = 20;                     ///< HNSW: neighbours of a node
  int64_t ef_construction = 150;      ///< HNSW: nodes held while neighbours are searched
  int64_t max_level = 7;              ///< HNSW: levels at most
  int64_t sample_rate = 256;          ///< rows to train on, for each centroid
  int64_t max_iterations = 50;        ///< passes of k-means
  uint64_t seed = 0;
  /// Trained elsewhere: [num_partitions, dim], and [num_sub_vectors * 2^num_bits, dim /
  /// num_sub_vectors]; of the column's element type.
  std::optional<format::Tensor> centroids;
  std::optional<format::Tensor> codebook;
};

/// A column that an index is made of.
struct IndexedVectors {
  std::string column;
  format::ElementType element = format::ElementType::kFloat32;
  int64_t dim = 0;
  bool lists = false;    ///< a multivector column: each row has any number of vectors
  int64_t num_rows = 0;  ///< rows, or vectors of lists, that the index will hold, about
};

/// Everything decided.
struct ResolvedParams {
  format::IndexKind kind;
  index::TrainingOptions training;
  format::GraphParams graphs;  ///< of kinds with graphs
  /// What was chosen, and why, one line each.
  std::vector<std::string> choices;
};

/// Judges the options against the column. What can't be built is `invalid`, with name, value and
/// bound.
arrow::Result<ResolvedParams> ResolveIndexParams(const IndexParams& params,
                                                 const IndexedVectors& vectors);

}  // namespace kinjo::dataset
