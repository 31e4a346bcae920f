#include "format/index_file/quantizer_model.h"

#include <cmath>
#include <string>
#include <utility>

#include "format/index_file/index_metadata.h"
#include "format/index_file/index_model.h"

namespace kinjo::format {

namespace {

constexpr uint32_t kMaxRqBits = 9;

arrow::Status CheckPqShape(const PqStorageMetadata& storage, const IvfModel& ivf,
                           const std::string& path) {
  if (storage.num_bits != 4 && storage.num_bits != 8) {
    return base::NotSupported("Index ", path, " has PQ codes of ", storage.num_bits,
                              " bits; 4 and 8 are read");
  }
  if (storage.dim != ivf.centroids.cols) {
    return base::Corrupt(path, 0, "The PQ quantizer of the index is for vectors of width ",
                         storage.dim, ", its centroids have ", ivf.centroids.cols);
  }
  if (storage.num_sub_vectors == 0 || storage.num_sub_vectors > storage.dim) {
    return base::Corrupt(path, 0, "The PQ quantizer of the index has ", storage.num_sub_vectors,
                         " sub-vectors for width ", storage.dim);
  }
  if (storage.dim % storage.num_sub_vectors != 0) {
    return base::NotSupported("Index ", path, " has ", storage.num_sub_vectors,
                              " sub-vectors, which don't divide its width ", storage.dim,
                              ": rebuild the index");
  }
  if (storage.num_bits == 4 && storage.num_sub_vectors % 2 != 0) {
    return base::Corrupt(path, 0,
                         "The 4-bit PQ quantizer of the index has an odd number of "
                         "sub-vectors: ",
                         storage.num_sub_vectors);
  }
  return arrow::Status::OK();
}

arrow::Result<QuantizerModel> ReadPqCodebook(LanceFile& auxiliary, const std::string& text,
                                             const IvfModel& ivf) {
  const std::string& path = auxiliary.path();
  ARROW_ASSIGN_OR_RAISE(const PqStorageMetadata storage, ParsePqStorage(text, path));
  ARROW_RETURN_NOT_OK(CheckPqShape(storage, ivf, path));
  PqCodebook pq{.num_bits = storage.num_bits,
                .num_sub_vectors = storage.num_sub_vectors,
                .dim = storage.dim,
                .transposed = storage.transposed};
  ARROW_ASSIGN_OR_RAISE(pq.codebook,
                        ReadTensor(auxiliary, storage.codebook_position, "PQ codebook"));
  const uint64_t entries = uint64_t{1} << storage.num_bits;
  if (pq.codebook.type != ivf.centroids.type || pq.codebook.type == ElementType::kUint8 ||
      pq.codebook.rows != entries || pq.codebook.cols != storage.dim) {
    return base::Corrupt(path, 0, "The PQ codebook of the index is ", pq.codebook.rows, " x ",
                         pq.codebook.cols, " of ", ElementTypeName(pq.codebook.type),
                         " where it should be ", entries, " x ", storage.dim, " of ",
                         ElementTypeName(ivf.centroids.type));
  }
  // The shape says [entries, dim]; the elements lie as [num_sub_vectors][entries][dim / M].
  pq.codebook.rows = entries * storage.num_sub_vectors;
  pq.codebook.cols = storage.dim / storage.num_sub_vectors;
  return pq;
}

arrow::Status CheckWidth(uint32_t dim, const char* what, const IvfModel& ivf,
                         const std::string& path) {
  if (dim == ivf.centroids.cols) return arrow::Status::OK();
  return base::Corrupt(path, 0, "The index stores ", what, " of width ", dim,
                       ", its centroids have ", ivf.centroids.cols);
}

arrow::Result<QuantizerModel> ReadSqModel(const LanceFile& auxiliary, const std::string& text,
                                          const IvfModel& ivf) {
  const std::string& path = auxiliary.path();
  ARROW_ASSIGN_OR_RAISE(const SqStorageMetadata storage, ParseSqStorage(text, path));
  ARROW_RETURN_NOT_OK(CheckWidth(storage.dim, "SQ codes", ivf, path));
  if (storage.num_bits != 8) {
    return base::NotSupported("Index ", path, " has SQ codes of ", storage.num_bits,
                              " bits; 8 are read");
  }
  if (!std::isfinite(storage.start) || !std::isfinite(storage.end) || storage.start > storage.end) {
    return base::Corrupt(path, 0, "The bounds of the SQ quantizer of the index are ", storage.start,
                         " and ", storage.end);
  }
  return SqModel{.start = storage.start, .end = storage.end};
}

arrow::Status CheckRqShape(const RqStorageMetadata& storage, const IvfModel& ivf,
                           const std::string& path) {
  if (storage.query_estimator != "raw_query") {
    return base::NotSupported("Index ", path, " has RQ codes for the query estimator `",
                              storage.query_estimator, "`; raw_query is read: rebuild the index");
  }
  if (storage.rotation_type != "fast" && storage.rotation_type != "matrix") {
    return base::NotSupported("Index ", path, " has a rotation of type `", storage.rotation_type,
                              "`; fast and matrix are read");
  }
  ARROW_RETURN_NOT_OK(CheckWidth(storage.code_dim, "RQ codes", ivf, path));
  if (storage.num_bits == 0 || storage.num_bits > kMaxRqBits || storage.code_dim % 8 != 0) {
    return base::Corrupt(path, 0, "The RQ quantizer of the index has ", storage.num_bits,
                         " bits for width ", storage.code_dim, ", where it can have 1 to ",
                         kMaxRqBits, " for a multiple of 8");
  }
  return arrow::Status::OK();
}

arrow::Result<QuantizerModel> ReadRqModel(LanceFile& auxiliary, const std::string& text,
                                          const IvfModel& ivf) {
  const std::string& path = auxiliary.path();
  ARROW_ASSIGN_OR_RAISE(RqStorageMetadata storage, ParseRqStorage(text, path));
  ARROW_RETURN_NOT_OK(CheckRqShape(storage, ivf, path));
  RqModel rq{.num_bits = storage.num_bits, .packed = storage.packed};
  if (storage.rotation_type == "fast") {
    constexpr size_t kRounds = 4;
    if (storage.signs.size() != kRounds * storage.code_dim / 8) {
      return base::Corrupt(path, 0, "The fast rotation of the index has ", storage.signs.size(),
                           " bytes of signs for width ", storage.code_dim);
    }
    rq.signs = std::move(storage.signs);
    return rq;
  }
  if (!storage.matrix_position.has_value()) {
    return base::Corrupt(path, 0, "The index metadata has no number `rotate_mat_position`");
  }
  ARROW_ASSIGN_OR_RAISE(rq.matrix,
                        ReadTensor(auxiliary, *storage.matrix_position, "rotation matrix"));
  if (rq.matrix.type == ElementType::kUint8 || rq.matrix.rows != storage.code_dim ||
      rq.matrix.cols != storage.code_dim) {
    return base::Corrupt(path, 0, "The rotation matrix of the index is ", rq.matrix.rows, " x ",
                         rq.matrix.cols, " of ", ElementTypeName(rq.matrix.type), " for width ",
                         storage.code_dim);
  }
  return rq;
}

}  // namespace

arrow::Result<QuantizerModel> ReadQuantizer(LanceFile& auxiliary, const IvfModel& ivf) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, GetMetadata(auxiliary, "storage_metadata"));
  switch (ivf.kind.quantizer) {
    case QuantizerKind::kPq:
      return ReadPqCodebook(auxiliary, text, ivf);
    case QuantizerKind::kSq:
      return ReadSqModel(auxiliary, text, ivf);
    case QuantizerKind::kRq:
      return ReadRqModel(auxiliary, text, ivf);
    case QuantizerKind::kFlat:
      break;
  }
  ARROW_ASSIGN_OR_RAISE(const FlatStorageMetadata storage,
                        ParseFlatStorage(text, auxiliary.path()));
  ARROW_RETURN_NOT_OK(CheckWidth(storage.dim, "vectors", ivf, auxiliary.path()));
  return FlatModel{};
}

}  // namespace kinjo::format
