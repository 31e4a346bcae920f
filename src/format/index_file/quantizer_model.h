// From the metadata and global buffers of auxiliary.idx to the quantizers of index_files.h: every
// size is checked here, against the centroids and the bytes that are there.
#pragma once

#include "format/file/lance_file.h"
#include "format/index_file/index_files.h"

namespace kinjo::format {

/// Reads the quantizer of an index with this model, whose kind it has. After success:
/// PQ: num_bits is 4 or 8, num_sub_vectors divides dim (and is even for 4 bits), dim and element
/// type are those of the centroids, and the codebook has dim * 2^num_bits elements.
/// SQ: finite bounds, start not above end. RQ: num_bits is 1 to 9, dim is a multiple of 8, and
/// there are either signs or a matrix for it. FLAT, SQ and RQ are for vectors as wide as the
/// centroids.
arrow::Result<QuantizerModel> ReadQuantizer(LanceFile& auxiliary, const IvfModel& ivf);

}  // namespace kinjo::format
