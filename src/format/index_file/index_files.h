// The two files of one vector index segment (index.idx, auxiliary.idx) as plain structs, checked
// once here. docs/format/index-file.md has the bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arrow/buffer.h"
#include "base/error.h"
#include "format/file/lance_file.h"
#include "format/index_file/graph_model.h"
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

/// How rows are coded.
enum class QuantizerKind : uint8_t { kFlat, kPq, kSq, kRq };

/// What an index type such as "IVF_HNSW_PQ" says.
struct IndexKind {
  QuantizerKind quantizer = QuantizerKind::kFlat;
  bool has_graph = false;  ///< HNSW: a graph over the rows of each partition
};

/// Nothing for a type that isn't read.
std::optional<IndexKind> ParseIndexKind(std::string_view type);
/// The types that ParseIndexKind knows, for messages.
std::string IndexTypeNames();

/// The IVF model: one centroid a partition, and where each partition's rows lie in auxiliary.idx.
struct IvfModel {
  std::string index_type;         ///< "IVF_FLAT", "IVF_PQ", ...
  IndexKind kind;                 ///< what index_type says
  std::string distance_type;      ///< as stored: "l2", "cosine", "dot", "hamming"
  Tensor centroids;               ///< [num_partitions, dim]
  std::vector<uint64_t> offsets;  ///< first row of each partition
  std::vector<uint64_t>
      lengths;  ///< rows of each partition; offsets + lengths stay within the file
  uint64_t num_partitions() const { return lengths.size(); }
};

/// Codes are the vectors themselves, in the element type of the centroids.
struct FlatModel {};

/// Product quantizer: value (m, k, j) of the codebook is at (m * 2^num_bits + k) * (dim /
/// num_sub_vectors) + j.
struct PqCodebook {
  uint32_t num_bits = 8;  ///< 4 or 8
  uint32_t num_sub_vectors = 0;
  uint32_t dim = 0;
  bool transposed = true;  ///< codes of a partition are stored plane after plane
  Tensor codebook;         ///< rows = num_sub_vectors * 2^num_bits, cols = dim / num_sub_vectors
};

/// Scalar quantizer of 8 bits: a byte says where an element lies between two finite bounds, start
/// not above end.
struct SqModel {
  double start = 0;
  double end = 0;
};

/// RaBitQ: a sign bit and num_bits - 1 more bits for each element of the rotated residual. The
/// rotation is either fast (`signs`) or a matrix.
struct RqModel {
  uint32_t num_bits = 1;       ///< 1 to 9
  bool packed = true;          ///< sign bits are stored in permuted blocks of 32 rows
  std::vector<uint8_t> signs;  ///< four rounds of ceil(dim / 8) bytes; empty for a matrix
  Tensor matrix;               ///< [dim, dim] of float16, float32 or float64; no data when fast
  uint32_t ex_bits() const { return num_bits - 1; }
};

/// The quantizer of a segment; its alternatives are in the order of QuantizerKind.
using QuantizerModel = std::variant<FlatModel, PqCodebook, SqModel, RqModel>;

/// The rows of one partition as stored, but for PQ under a graph, whose codes come row after row
/// always: a search there jumps from row to row. `codes`: for PQ code_bytes planes of num_rows
/// bytes when transposed, else num_rows rows of code_bytes; for FLAT num_rows * dim elements; for
/// SQ rows of dim bytes; for RQ the sign bits, dim / 8 bytes a row, as docs/format/index-file.md
/// lays them out. The buffers after it are null but for RQ.
struct PartitionRows {
  uint64_t num_rows = 0;
  std::shared_ptr<arrow::Buffer> row_ids;  ///< num_rows uint64
  std::shared_ptr<arrow::Buffer> codes;
  uint32_t code_bytes = 0;                       ///< bytes of one row in `codes`
  std::shared_ptr<arrow::Buffer> ex_codes;       ///< rows of the other bits; null for one bit
  std::shared_ptr<arrow::Buffer> add_factors;    ///< num_rows floats: those of all bits
  std::shared_ptr<arrow::Buffer> scale_factors;  ///< the same

  /// Of all buffers.
  uint64_t size_bytes() const;
};

/// Bytes of one row in the ex codes of RQ: for each block of 64 elements 8 bytes a bit.
constexpr uint32_t RqExCodeBytes(uint32_t dim, uint32_t ex_bits) {
  return (dim + 63) / 64 * 8 * ex_bits;
}

/// An open segment. Immutable; thread-safe. Legacy files, `lance:pca`, unknown types and odd forms
/// of known ones are `not_supported`, by name.
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
  virtual const QuantizerModel& quantizer() const = 0;
  /// Vector width in elements.
  virtual uint32_t dim() const = 0;

  /// Reads the row ids of one partition: `num_rows` and `row_ids` alone are set. Here and below,
  /// only its rows' bytes (to the chunk) are read.
  virtual arrow::Result<PartitionRows> ReadRowIds(uint64_t partition) = 0;
  /// Reads the rest of one partition into `rows`, which ReadRowIds gave.
  virtual arrow::Status ReadCodes(uint64_t partition, PartitionRows* rows) = 0;
  /// Reads `count` partitions from `first` on whole, as parts of one buffer for each column.
  virtual arrow::Result<std::vector<PartitionRows>> ReadRun(uint64_t first, uint64_t count);
  /// Reads one partition whole.
  arrow::Result<PartitionRows> ReadPartition(uint64_t partition);

  /// Reads the graph of one partition. Requires: ivf().kind.has_graph.
  virtual arrow::Result<PartitionGraph> ReadGraph(uint64_t partition);
  /// The most that the graph of one partition takes in memory, by what the file says about it; 0
  /// where there is none.
  virtual uint64_t graph_bytes(uint64_t /*partition*/) const { return 0; }

  /// Bytes of one row's code, in all columns.
  uint32_t code_bytes() const;
  /// The least that ReadPartition has to read: the row ids and codes of the partition's rows.
  uint64_t partition_bytes(uint64_t partition) const {
    return ivf().lengths[partition] * (sizeof(uint64_t) + code_bytes());
  }
};

}  // namespace kinjo::format
