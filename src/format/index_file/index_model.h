// From the metadata and global buffers of an opened index to the structs of index_files.h: every
// size is checked here, against the bytes that are there and against the other file.
#pragma once

#include <cstdint>
#include <vector>

#include "format/file/lance_file.h"
#include "format/index_file/index_files.h"

namespace kinjo::format {

/// Where the rows of each partition lie in one of the files.
struct RowExtents {
  std::vector<uint64_t> offsets;  ///< first row of each partition
  std::vector<uint64_t> lengths;  ///< rows of each partition
};

/// Reads them from the IVF model of `file`. After success: `num_partitions` of them, and every
/// offset + length is within the rows of the file.
arrow::Result<RowExtents> ReadRowExtents(LanceFile& file, uint64_t num_partitions);

/// Reads the IVF model: type, metric and centroids from `index`, offsets and lengths from
/// `auxiliary`. After success: at least one partition, as many centroids as partitions, each of at
/// least one element, and every offset + length within the rows of `auxiliary`. Refuses index types
/// that ParseIndexKind doesn't know, and `lance:pca`, as `not_supported`.
arrow::Result<IvfModel> ReadIvfModel(LanceFile& index, LanceFile& auxiliary);

/// The metadata `key` of a file; a missing one is `corrupt`.
arrow::Result<std::string> GetMetadata(const LanceFile& file, const char* key);

/// Reads the matrix in global buffer `number`, which isn't empty afterwards. `what` names it.
arrow::Result<Tensor> ReadTensor(LanceFile& file, uint64_t number, const char* what);

}  // namespace kinjo::format
