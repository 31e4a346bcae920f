#include "format/file/constant_encoder.h"

#include <cstring>
#include <utility>

namespace kinjo::format::file {

namespace {

std::shared_ptr<arrow::Buffer> RawLevels(const std::vector<uint16_t>& levels) {
  std::vector<uint8_t> bytes(levels.size() * 2);
  if (!bytes.empty()) std::memcpy(bytes.data(), levels.data(), bytes.size());
  return BufferOf(std::move(bytes));
}

// No value at all: what the rows are stands in their levels.
EncodedPage EncodeNulls(const PageContent& page) {
  EncodedPage encoded;
  encoded.layout.kind = proto::PageLayout::Kind::kConstant;
  encoded.layout.constant.layers = page.levels.layers;
  const bool plain = page.levels.layers.size() == 1;
  if (!plain) {
    encoded.buffers.push_back(RawLevels(page.levels.rep));
    encoded.buffers.push_back(RawLevels(page.levels.def));
  }
  return encoded;
}

}  // namespace

arrow::Result<std::optional<EncodedPage>> EncodeConstant(const PageContent& page,
                                                         const WriteChoices& /*choices*/) {
  if (page.num_valid == 0 || page.leaf->type.kind == LeafType::Kind::kNull) {
    return EncodeNulls(page);
  }
  return std::nullopt;
}

}  // namespace kinjo::format::file
