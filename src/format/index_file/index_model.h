// From the metadata and global buffers of an opened index to the structs of index_files.h: every
// size is checked here, against the bytes that are there and against the other file.
#pragma once

#include <cstdint>
#include <memory>

#include "format/file/lance_file.h"
#include "format/index_file/index_files.h"

namespace kinjo::format {

/// Reads the IVF model: type, metric and centroids from `index`, offsets and lengths from
/// `auxiliary`. After success: at least one partition, as many centroids as partitions, each of at
/// least one element, and every offset + length within the rows of `auxiliary`. Refuses index types
/// other than IVF_FLAT and IVF_PQ, and `lance:pca`, as `not_supported`.
arrow::Result<IvfModel> ReadIvfModel(LanceFile& index, LanceFile& auxiliary);

/// Reads the PQ quantizer of an index with this model. After success: num_bits is 4 or 8,
/// num_sub_vectors divides dim (and is even for 4 bits), dim and element type are those of the
/// centroids, and the codebook has dim * 2^num_bits elements.
arrow::Result<PqCodebook> ReadPqCodebook(LanceFile& auxiliary, const IvfModel& ivf);

/// Checks that a FLAT index stores vectors as wide as its centroids.
arrow::Status CheckFlatStorage(LanceFile& auxiliary, const IvfModel& ivf);

}  // namespace kinjo::format
