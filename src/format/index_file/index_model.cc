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

// As ReadRowExtents; `path` names the file.
arrow::Result<RowExtents> MakeExtents(proto::IvfMessage ivf, uint64_t num_partitions,
                                      uint64_t num_rows, const std::string& path) {
  if (ivf.lengths.size() != num_partitions) {
    return base::Corrupt(path, 0, "The index has ", num_partitions, " centroids but ",
                         ivf.lengths.size(), " partitions");
  }
  RowExtents extents;
  extents.lengths.assign(ivf.lengths.begin(), ivf.lengths.end());
  if (ivf.offsets.empty()) {
    uint64_t next = 0;  // lengths are 32-bit and fewer than 2^31: the sum fits
    for (const uint64_t length : extents.lengths) {
      ivf.offsets.push_back(next);
      next += length;
    }
  }
  if (ivf.offsets.size() != extents.lengths.size()) {
    return base::Corrupt(path, 0, "The index has ", extents.lengths.size(), " partitions but ",
                         ivf.offsets.size(), " offsets");
  }
  extents.offsets = std::move(ivf.offsets);
  for (size_t i = 0; i < extents.lengths.size(); ++i) {
    if (extents.offsets[i] > num_rows || extents.lengths[i] > num_rows - extents.offsets[i]) {
      return base::Corrupt(path, 0, "Partition ", i, " of the index has rows from ",
                           extents.offsets[i], ", ", extents.lengths[i],
                           " of them, but the file has ", num_rows);
    }
  }
  return extents;
}

}  // namespace

arrow::Result<std::string> GetMetadata(const LanceFile& file, const char* key) {
  const std::string* value = FindMetadata(file, key);
  if (value == nullptr) {
    return base::Corrupt(file.path(), 0, "The index file has no metadata `", key, "`");
  }
  return *value;
}

arrow::Result<Tensor> ReadTensor(LanceFile& file, uint64_t number, const char* what) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadNumberedBuffer(file, number, what));
  ARROW_ASSIGN_OR_RAISE(const proto::TensorMessage message,
                        proto::ParseTensor(View(*bytes), file.path()));
  return ToTensor(message, what, file.path());
}

arrow::Result<RowExtents> ReadRowExtents(LanceFile& file, uint64_t num_partitions) {
  ARROW_ASSIGN_OR_RAISE(const auto bytes, ReadIvfBuffer(file));
  ARROW_ASSIGN_OR_RAISE(proto::IvfMessage ivf, proto::ParseIvf(View(*bytes), file.path()));
  return MakeExtents(std::move(ivf), num_partitions, file.num_rows(), file.path());
}

arrow::Result<IvfModel> ReadIvfModel(LanceFile& index, LanceFile& auxiliary) {
  IvfModel model;
  ARROW_ASSIGN_OR_RAISE(const std::string text, GetMetadata(index, "lance:index"));
  ARROW_ASSIGN_OR_RAISE(IndexTypeMetadata type, ParseIndexType(text, index.path()));
  model.index_type = std::move(type.type);
  model.distance_type = std::move(type.distance_type);
  const std::optional<IndexKind> kind = ParseIndexKind(model.index_type);
  if (!kind.has_value()) {
    return base::NotSupported("Index ", index.path(), " is of type ", model.index_type, "; ",
                              IndexTypeNames(), " are read");
  }
  model.kind = *kind;
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
  ARROW_ASSIGN_OR_RAISE(RowExtents extents, ReadRowExtents(auxiliary, model.centroids.rows));
  model.offsets = std::move(extents.offsets);
  model.lengths = std::move(extents.lengths);
  return model;
}

}  // namespace kinjo::format
