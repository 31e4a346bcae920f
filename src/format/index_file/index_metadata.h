// The JSON texts in the schema metadata of index files as plain structs. The one place that knows
// the JSON library.
#pragma once

#include <cstdint>
#include <string>

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

/// Each parses one metadata value; `path` is the file it came from. What isn't JSON, lacks a key,
/// or holds a value of the wrong kind or size is `corrupt` and names the key.
arrow::Result<IndexTypeMetadata> ParseIndexType(const std::string& text, const std::string& path);
/// `text` is a JSON array that holds one string, which is JSON itself.
arrow::Result<FlatStorageMetadata> ParseFlatStorage(const std::string& text,
                                                    const std::string& path);
arrow::Result<PqStorageMetadata> ParsePqStorage(const std::string& text, const std::string& path);

}  // namespace kinjo::format
