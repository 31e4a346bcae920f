#include "format/index_file/index_model.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "format/index_file/index_metadata.h"
#include "format/proto/index_messages.h"

namespace kinjo::format {

namespace {

// Partition ids are 32-bit everywhere else.
constexpr uint64_t kMaxPartitions = std::numeric_limits<int32_t>::max();
// Far above any embedding, and small enough that bytes of a row fit 32 bits.
constexpr uint64_t kMaxDim = 1 << 20;

const std::string* FindMetadata(const LanceFile& file, const char* key) {
  const auto found = file.schema().metadata.find(key);
  return found == file.schema().metadata.end() ? nullptr : &found->second;
}

arrow::Result<std::string> GetMetadata(const LanceFile& file, const char* key) {
  const std::string* value = FindMetadata(file, key);
  if (value == nullptr) {
    return base::Corrupt(file.path(), 0, "The index file has no metadata `", key, "`");
  }
  return *value;
}

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ReadNumberedBuffer(LanceFile& file, uint64_t number,
                                                                 const char* what) {
  if (number >= static_cast<uint64_t>(std::max(file.num_global_buffers(), 0))) {
    return base::Corrupt(file.path(), 0, "The ", what, " should be global buffer ", number,
                         ", but the index file has ", file.num_global_buffers());
  }
  return file.ReadGlobalBuffer(static_cast<int>(number));
}

// The global buffer that the metadata `lance:ivf` names.
arrow::Result<std::shared_ptr<arrow::Buffer>> ReadIvfBuffer(LanceFile& file) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, GetMetadata(file, "lance:ivf"));
  uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) {
    return base::Corrupt(file.path(), 0, "The metadata `lance:ivf` isn't a number");
  }
  return ReadNumberedBuffer(file, number, "IVF model");
}

std::string_view View(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

arrow::Result<ElementType> ToElementType(uint32_t data_type, const std::string& path) {
  using proto::TensorDataType;
  switch (static_cast<TensorDataType>(data_type)) {
    case TensorDataType::kFloat16:
      return ElementType::kFloat16;
    case TensorDataType::kFloat32:
      return ElementType::kFloat32;
    case TensorDataType::kFloat64:
      return ElementType::kFloat64;
    case TensorDataType::kUint8:
      return ElementType::kUint8;
    default:
      return base::NotSupported("Index ", path, " has a tensor of data type ", data_type,
                                "; float16, float32, float64 and uint8 are read");
  }
}

// A two-dimensional tensor, copied so that its elements are aligned.
arrow::Result<Tensor> ToTensor(const proto::TensorMessage& message, const char* what,
                               const std::string& path) {
  Tensor tensor;
  ARROW_ASSIGN_OR_RAISE(tensor.type, ToElementType(message.data_type, path));
  if (message.shape.size() != 2 || message.shape[0] == 0 || message.shape[1] == 0) {
    return base::Corrupt(path, 0, "The ", what, " of the index isn't a matrix with elements");
  }
  tensor.rows = message.shape[0];
  tensor.cols = message.shape[1];
  // Both are 32-bit, so the product fits; it is compared by division so that nothing can wrap.
  const uint64_t elements = tensor.rows * tensor.cols;
  const uint64_t width = ElementBytes(tensor.type);
  if (message.data.size() % width != 0 || message.data.size() / width != elements) {
    return base::Corrupt(path, 0, "The ", what, " of the index is ", tensor.rows, " x ",
                         tensor.cols, " of ", ElementTypeName(tensor.type), " but has ",
                         message.data.size(), " bytes");
  }
  ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> data,
                        arrow::AllocateBuffer(static_cast<int64_t>(message.data.size())));
  std::memcpy(data->mutable_data(), message.data.data(), message.data.size());
  tensor.data = std::move(data);
  return tensor;
}

arrow::Status ReadCentroids(LanceFile& index, IvfModel* model) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadIvfBuffer(index));
  ARROW_ASSIGN_OR_RAISE(const proto::IvfMessage ivf, proto::ParseIvf(View(*bytes), index.path()));
  if (!ivf.centroids.has_value()) {
    if (ivf.has_untyped_centroids) {
      return base::NotSupported("Legacy index file ", index.path(),
                                " (centroids without a type): rebuild the index");
    }
    return base::Corrupt(index.path(), 0, "The IVF model of the index has no centroids");
  }
  ARROW_ASSIGN_OR_RAISE(model->centroids, ToTensor(*ivf.centroids, "centroids", index.path()));
  if (model->centroids.rows > kMaxPartitions || model->centroids.cols > kMaxDim) {
    return base::NotSupported("Index ", index.path(), " has ", model->centroids.rows,
                              " partitions of width ", model->centroids.cols, "; at most ",
                              kMaxPartitions, " of width ", kMaxDim, " are read");
  }
  return arrow::Status::OK();
}

arrow::Status ReadPartitionLengths(LanceFile& auxiliary, IvfModel* model) {
  const std::string& path = auxiliary.path();
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadIvfBuffer(auxiliary));
  ARROW_ASSIGN_OR_RAISE(proto::IvfMessage ivf, proto::ParseIvf(View(*bytes), path));
  if (ivf.lengths.size() != model->centroids.rows) {
    return base::Corrupt(path, 0, "The index has ", model->centroids.rows, " centroids but ",
                         ivf.lengths.size(), " partitions");
  }
  model->lengths.assign(ivf.lengths.begin(), ivf.lengths.end());
  if (ivf.offsets.empty()) {
    uint64_t next = 0;  // lengths are 32-bit and fewer than 2^31: the sum fits
    for (const uint64_t length : model->lengths) {
      ivf.offsets.push_back(next);
      next += length;
    }
  }
  if (ivf.offsets.size() != model->lengths.size()) {
    return base::Corrupt(path, 0, "The index has ", model->lengths.size(), " partitions but ",
                         ivf.offsets.size(), " offsets");
  }
  model->offsets = std::move(ivf.offsets);
  const uint64_t num_rows = auxiliary.num_rows();
  for (size_t i = 0; i < model->lengths.size(); ++i) {
    if (model->offsets[i] > num_rows || model->lengths[i] > num_rows - model->offsets[i]) {
      return base::Corrupt(path, 0, "Partition ", i, " of the index has rows from ",
                           model->offsets[i], ", ", model->lengths[i],
                           " of them, but the file has ", num_rows);
    }
  }
  return arrow::Status::OK();
}

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

}  // namespace

arrow::Result<IvfModel> ReadIvfModel(LanceFile& index, LanceFile& auxiliary) {
  IvfModel model;
  ARROW_ASSIGN_OR_RAISE(const std::string text, GetMetadata(index, "lance:index"));
  ARROW_ASSIGN_OR_RAISE(IndexTypeMetadata type, ParseIndexType(text, index.path()));
  model.index_type = std::move(type.type);
  model.distance_type = std::move(type.distance_type);
  if (model.index_type != "IVF_FLAT" && model.index_type != "IVF_PQ") {
    return base::NotSupported("Index ", index.path(), " is of type ", model.index_type,
                              "; IVF_FLAT and IVF_PQ are read");
  }
  if (FindMetadata(index, "lance:pca") != nullptr ||
      FindMetadata(auxiliary, "lance:pca") != nullptr) {
    return base::NotSupported("Index ", index.path(),
                              " transforms vectors by lance:pca, which isn't read");
  }
  const std::string* stored = FindMetadata(auxiliary, "distance_type");
  if (stored != nullptr && LowerCase(*stored) != LowerCase(model.distance_type)) {
    return base::Corrupt(auxiliary.path(), 0, "The metric is `", *stored,
                         "` in auxiliary.idx but `", model.distance_type, "` in index.idx");
  }
  ARROW_RETURN_NOT_OK(ReadCentroids(index, &model));
  ARROW_RETURN_NOT_OK(ReadPartitionLengths(auxiliary, &model));
  return model;
}

arrow::Result<PqCodebook> ReadPqCodebook(LanceFile& auxiliary, const IvfModel& ivf) {
  const std::string& path = auxiliary.path();
  ARROW_ASSIGN_OR_RAISE(const std::string text, GetMetadata(auxiliary, "storage_metadata"));
  ARROW_ASSIGN_OR_RAISE(const PqStorageMetadata storage, ParsePqStorage(text, path));
  ARROW_RETURN_NOT_OK(CheckPqShape(storage, ivf, path));
  ARROW_ASSIGN_OR_RAISE(const auto bytes,
                        ReadNumberedBuffer(auxiliary, storage.codebook_position, "PQ codebook"));
  ARROW_ASSIGN_OR_RAISE(const proto::TensorMessage message, proto::ParseTensor(View(*bytes), path));
  PqCodebook pq{.num_bits = storage.num_bits,
                .num_sub_vectors = storage.num_sub_vectors,
                .dim = storage.dim,
                .transposed = storage.transposed};
  ARROW_ASSIGN_OR_RAISE(pq.codebook, ToTensor(message, "PQ codebook", path));
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

arrow::Status CheckFlatStorage(LanceFile& auxiliary, const IvfModel& ivf) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, GetMetadata(auxiliary, "storage_metadata"));
  ARROW_ASSIGN_OR_RAISE(const FlatStorageMetadata storage,
                        ParseFlatStorage(text, auxiliary.path()));
  if (storage.dim != ivf.centroids.cols) {
    return base::Corrupt(auxiliary.path(), 0, "The index stores vectors of width ", storage.dim,
                         ", its centroids have ", ivf.centroids.cols);
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::format
