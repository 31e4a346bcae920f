#include "format/proto/index_messages.h"

#include "format/proto/wire.h"

namespace kinjo::format::proto {

namespace {

arrow::Status Malformed(const char* message, const WireReader& reader, const std::string& path) {
  return base::Corrupt(path, reader.position(), "Malformed ", message,
                       " message of an index; the offset is that inside the message");
}

}  // namespace

arrow::Result<TensorMessage> ParseTensor(std::string_view bytes, const std::string& path) {
  TensorMessage tensor;
  WireReader reader(bytes);
  bool good = true;
  while (good && reader.Next()) {
    const WireField& field = reader.field();
    switch (field.number) {
      case 1:
        good = field.type == WireType::kVarint;
        tensor.data_type = field.as_uint32();
        break;
      case 2:
        good = AppendVarints(field, &tensor.shape);
        break;
      case 3:
        good = field.type == WireType::kBytes;
        tensor.data = field.bytes;
        break;
      default:
        break;
    }
  }
  if (!good || !reader.ok()) return Malformed("Tensor", reader, path);
  return tensor;
}

arrow::Result<IvfMessage> ParseIvf(std::string_view bytes, const std::string& path) {
  IvfMessage ivf;
  WireReader reader(bytes);
  bool good = true;
  while (good && reader.Next()) {
    const WireField& field = reader.field();
    switch (field.number) {
      case 1:
        ivf.has_untyped_centroids = true;
        break;
      case 2:
        good = AppendVarints(field, &ivf.offsets);
        break;
      case 3:
        good = AppendVarints(field, &ivf.lengths);
        break;
      case 4: {
        good = field.type == WireType::kBytes;
        if (!good) break;
        ARROW_ASSIGN_OR_RAISE(ivf.centroids, ParseTensor(field.bytes, path));
        break;
      }
      default:
        break;
    }
  }
  if (!good || !reader.ok()) return Malformed("IVF", reader, path);
  return ivf;
}

}  // namespace kinjo::format::proto
