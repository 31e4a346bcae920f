// The JSON texts in the schema metadata of index files as plain structs. The one place that knows
// the JSON library.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace kinjo::format {

/// `lance:index` of index.idx.
struct IndexTypeMetadata {
  std::string type;           ///< "IVF_PQ", ...
  std::string distance_type;  ///< "l2", ...
};

/// The quantizer's part of `storage_metadata` for FLAT.
struct FlatStorageMetadata {
  uint32_t dim = 0;
};

/// The quantizer's part of `storage_metadata` for PQ.
struct PqStorageMetadata {
  uint32_t codebook_position = 0;  ///< number of the global buffer that holds the codebook
  uint32_t num_bits = 0;
  uint32_t num_sub_vectors = 0;
  uint32_t dim = 0;
  bool transposed = false;
};

/// One graph's part of `lance:hnsw`.
struct GraphMetadata {
  uint32_t entry_point = 0;
  uint32_t max_connections = 0;  ///< of a node above level 0, when the graph was built
  uint32_t ef_construction = 0;  ///< written and not read, as is the next
  uint32_t max_level = 0;
  std::vector<uint32_t>
      level_offsets;  ///< first row of each level in the graph's rows, and the end
};

/// The quantizer's part of `storage_metadata` for SQ.
struct SqStorageMetadata {
  uint32_t dim = 0;
  uint32_t num_bits = 0;
  double start = 0;
  double end = 0;
};

/// The quantizer's part of `storage_metadata` for RQ.
struct RqStorageMetadata {
  uint32_t num_bits = 0;
  uint32_t code_dim = 0;
  bool packed = false;
  std::string rotation_type;                ///< "fast" or "matrix"; a missing key means matrix
  std::optional<uint32_t> matrix_position;  ///< number of the global buffer that holds the matrix
  std::vector<uint8_t> signs;               ///< of a fast rotation
  std::string query_estimator;              ///< a missing key means "residual_query"
};

/// Each parses one metadata value; `path` is the file it came from. What isn't JSON, lacks a key,
/// or holds a value of the wrong kind or size is `corrupt` and names the key.
arrow::Result<IndexTypeMetadata> ParseIndexType(const std::string& text, const std::string& path);
/// `text` is a JSON array that holds one string, which is JSON itself.
arrow::Result<FlatStorageMetadata> ParseFlatStorage(const std::string& text,
                                                    const std::string& path);
arrow::Result<PqStorageMetadata> ParsePqStorage(const std::string& text, const std::string& path);
arrow::Result<SqStorageMetadata> ParseSqStorage(const std::string& text, const std::string& path);
arrow::Result<RqStorageMetadata> ParseRqStorage(const std::string& text, const std::string& path);

/// `text` is a JSON array of one string a partition, each JSON itself; an empty one, for a
/// partition without rows, gives no levels.
arrow::Result<std::vector<GraphMetadata>> ParseGraphs(const std::string& text,
                                                      const std::string& path);

/// Each writes one metadata value, as Lance spells it.
std::string WriteIndexType(const IndexTypeMetadata& metadata);
std::string WriteFlatStorage(const FlatStorageMetadata& metadata);
std::string WritePqStorage(const PqStorageMetadata& metadata);
std::string WriteSqStorage(const SqStorageMetadata& metadata);
/// Requires a fast rotation.
std::string WriteRqStorage(const RqStorageMetadata& metadata);
/// A graph without levels is that of a partition without rows. Offsets are filled up with the last
/// one to max_level levels.
std::string WriteGraphs(const std::vector<GraphMetadata>& graphs);
/// `lance:flat`, which says as little as it can for each partition.
std::string WriteFlatPartitions(uint64_t num_partitions);

}  // namespace kinjo::format
