// The two files of one vector index segment (index.idx, auxiliary.idx) as plain structs, checked
// once here. docs/format/index-file.md has the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arrow/buffer.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// Element type of centroids, codebook and flat vectors: that of the indexed column.
enum class ElementType : uint8_t { kFloat16, kFloat32, kFloat64, kUint8 };

/// Bytes of one element.
uint32_t ElementBytes(ElementType type);
/// "float16", "float32", ...
const char* ElementTypeName(ElementType type);

/// A dense row-major matrix as stored. `data` holds rows * cols elements.
struct Tensor {
  ElementType type = ElementType::kFloat32;
  uint64_t rows = 0;
  uint64_t cols = 0;
  std::shared_ptr<arrow::Buffer> data;
};

/// The IVF model: one centroid a partition, and where each partition's rows lie in auxiliary.idx.
struct IvfModel {
  std::string index_type;         ///< "IVF_FLAT", "IVF_PQ", ...
  std::string distance_type;      ///< as stored: "l2", "cosine", "dot", "hamming"
  Tensor centroids;               ///< [num_partitions, dim]
  std::vector<uint64_t> offsets;  ///< first row of each partition
  std::vector<uint64_t>
      lengths;  ///< rows of each partition; offsets + lengths stay within the file
  uint64_t num_partitions() const { return lengths.size(); }
};

/// Product quantizer: value (m, k, j) of the codebook is at (m * 2^num_bits + k) * (dim /
/// num_sub_vectors) + j.
struct PqCodebook {
  uint32_t num_bits = 8;  ///< 4 or 8
  uint32_t num_sub_vectors = 0;
  uint32_t dim = 0;
  bool transposed = true;  ///< codes of a partition are stored plane after plane
  Tensor codebook;         ///< rows = num_sub_vectors * 2^num_bits, cols = dim / num_sub_vectors
};

/// The rows of one partition as stored. For PQ `codes` has code_bytes planes of num_rows bytes when
/// transposed, else num_rows rows of code_bytes; for FLAT it has num_rows * dim elements.
struct PartitionRows {
  uint64_t num_rows = 0;
  std::shared_ptr<arrow::Buffer> row_ids;  ///< num_rows uint64
  std::shared_ptr<arrow::Buffer> codes;
  uint32_t code_bytes = 0;  ///< bytes of one row
};

/// An open segment. Immutable; thread-safe. Legacy files, `lance:pca`, and quantizers other than
/// FLAT and PQ are `not_supported`, by name.
class IndexFiles {
 public:
  /// `directory` is `_indices/<uuid>`.
  static arrow::Result<std::shared_ptr<IndexFiles>> Open(
      const io::Location& directory, const std::shared_ptr<io::IoCounters>& counters);
  /// The same over the two files already opened: index.idx and auxiliary.idx.
  static arrow::Result<std::shared_ptr<IndexFiles>> Assemble(
      const std::shared_ptr<LanceFile>& index, std::shared_ptr<LanceFile> auxiliary);
  virtual ~IndexFiles() = default;

  virtual const IvfModel& ivf() const = 0;
  /// Null unless the quantizer is PQ.
  virtual const PqCodebook* pq() const = 0;
  /// Vector width in elements.
  virtual uint32_t dim() const = 0;

  /// Reads one partition: only its rows' bytes (to the chunk).
  virtual arrow::Result<PartitionRows> ReadPartition(uint64_t partition) = 0;

  /// Bytes of one row's code.
  uint32_t code_bytes() const;
  /// The least that ReadPartition has to read: the row ids and codes of the partition's rows.
  uint64_t partition_bytes(uint64_t partition) const {
    return ivf().lengths[partition] * (sizeof(uint64_t) + code_bytes());
  }
};

}  // namespace kinjo::format
