// The protobuf messages of index files (package lance.index.pb): the IVF model and the dense
// tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace kinjo::format::proto {

/// Values of Tensor.data_type.
enum class TensorDataType : uint32_t {
  kBfloat16 = 0,
  kFloat16 = 1,
  kFloat32 = 2,
  kFloat64 = 3,
  kUint8 = 4,
  kUint16 = 5,
  kUint32 = 6,
  kUint64 = 7,
};

/// A dense tensor, row-major. `data` points into the parsed bytes.
struct TensorMessage {
  uint32_t data_type = 0;
  std::vector<uint32_t> shape;
  std::string_view data;
};

/// The IVF model. In index.idx it has the centroids, in auxiliary.idx where the rows lie.
struct IvfMessage {
  std::vector<uint64_t> offsets;
  std::vector<uint32_t> lengths;
  std::optional<TensorMessage> centroids;
  bool has_untyped_centroids = false;  ///< field 1, the form of legacy files
};

/// Parse one message; unknown fields are skipped. `path` is the file, for the error. The bytes must
/// outlive what is returned.
arrow::Result<TensorMessage> ParseTensor(std::string_view bytes, const std::string& path);
arrow::Result<IvfMessage> ParseIvf(std::string_view bytes, const std::string& path);

}  // namespace kinjo::format::proto
