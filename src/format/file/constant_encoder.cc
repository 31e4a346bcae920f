#include "format/file/constant_encoder.h"

#include <cstring>
#include <utility>

#include "format/file/level_encoder.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;

std::shared_ptr<arrow::Buffer> RawLevels(const std::vector<uint16_t>& levels) {
  std::vector<uint8_t> bytes(levels.size() * 2);
  if (!bytes.empty()) std::memcpy(bytes.data(), levels.data(), bytes.size());
  return BufferOf(std::move(bytes));
}

// A level buffer of a page of nulls, and its encoding; 2.1 has them as they are.
arrow::Status AddLevels(const std::vector<uint16_t>& levels, uint16_t highest,
                        const WriteChoices& choices, std::optional<Encoding>* encoding,
                        uint64_t* count, EncodedPage* page) {
  if (levels.empty() || !choices.is_v22()) {
    page->buffers.push_back(RawLevels(levels));
    return arrow::Status::OK();
  }
  const uint64_t firsts[] = {0, levels.size()};
  EncodedLevels encoded = EncodeLevels(levels, firsts, highest, true);
  *encoding = std::move(encoded.encoding);
  *count = levels.size();
  page->buffers.push_back(BufferOf(std::move(encoded.bytes)));
  return arrow::Status::OK();
}

// No value at all: what the rows are stands in their levels.
arrow::Result<EncodedPage> EncodeNulls(const PageContent& page, const WriteChoices& choices) {
  EncodedPage encoded;
  encoded.layout.kind = proto::PageLayout::Kind::kConstant;
  proto::ConstantLayout& layout = encoded.layout.constant;
  const OwnLevels& levels = page.levels;
  layout.layers = levels.layers;
  if (layout.layers.size() == 1) return encoded;
  ARROW_RETURN_NOT_OK(AddLevels(levels.rep, levels.max_rep, choices, &layout.rep_compression,
                                &layout.num_rep_values, &encoded));
  ARROW_RETURN_NOT_OK(AddLevels(levels.def, levels.max_def, choices, &layout.def_compression,
                                &layout.num_def_values, &encoded));
  return encoded;
}

bool AllEqual(const ValueBlock& block) {
  if (block.variable) {
    const uint64_t size = block.offset(1) - block.offset(0);
    const uint8_t* first = block.bytes + block.offset(0);
    for (uint64_t i = 1; i < block.num_values; ++i) {
      const uint64_t begin = block.offset(i);
      if (block.offset(i + 1) - begin != size) return false;
      if (size != 0 && std::memcmp(block.bytes + begin, first, size) != 0) return false;
    }
    return true;
  }
  if (block.bits_per_value == 1) {
    for (uint64_t i = 1; i < block.num_values; ++i) {
      if (BitAt(block.values, i) != BitAt(block.values, 0)) return false;
    }
    return true;
  }
  const uint64_t width = block.bits_per_value / 8;
  return std::memcmp(block.values, block.values + width, (block.num_values - 1) * width) == 0;
}

// The value buffer of constant_page.cc: number of parts, their sizes, the parts.
std::vector<uint8_t> ValueBuffer(const ValueBlock& block) {
  const uint64_t begin = block.variable ? block.offset(0) : 0;
  const uint64_t size = block.variable ? block.offset(1) - begin : block.bits_per_value / 8;
  const uint8_t* value = block.variable ? block.bytes + begin : block.values;
  const uint64_t offset_bytes = block.variable ? uint64_t{2} * block.offset_width : 0;
  const std::vector<uint32_t> header =
      block.variable ? std::vector<uint32_t>{2, static_cast<uint32_t>(offset_bytes),
                                             static_cast<uint32_t>(size)}
                     : std::vector<uint32_t>{1, static_cast<uint32_t>(size)};
  const size_t header_bytes = header.size() * sizeof(uint32_t);
  std::vector<uint8_t> out(header_bytes + offset_bytes + size);
  std::memcpy(out.data(), header.data(), header_bytes);
  // The first offset is 0, the second the size.
  if (block.variable) {
    std::memcpy(out.data() + header_bytes + block.offset_width, &size, block.offset_width);
  }
  if (size != 0) std::memcpy(out.data() + header_bytes + offset_bytes, value, size);
  return out;
}

EncodedPage EncodeValue(const PageContent& page) {
  constexpr uint64_t kMostInlineBytes = 32;
  const ValueBlock& block = page.values;
  EncodedPage encoded;
  encoded.layout.kind = proto::PageLayout::Kind::kConstant;
  encoded.layout.constant.layers = page.levels.layers;
  if (block.variable || block.bits_per_value > kMostInlineBytes * 8) {
    encoded.buffers.push_back(BufferOf(ValueBuffer(block)));
  } else if (block.bits_per_value == 1) {
    encoded.layout.constant.inline_value =
        std::string(1, static_cast<char>(BitAt(block.values, 0)));
  } else {
    encoded.layout.constant.inline_value =
        std::string(reinterpret_cast<const char*>(block.values), block.bits_per_value / 8);
  }
  return encoded;
}

// Nulls and lists among equal values would need their levels uncompressed: mini-blocks are smaller.
bool MayBeConstant(const PageContent& page, const WriteChoices& choices) {
  const bool has_levels = !page.levels.rep.empty() || !page.levels.def.empty();
  return choices.is_v22() && !has_levels && page.values.item_validity.empty() &&
         choices.dictionary_index_bits == 0 &&
         (page.values.variable || page.values.bits_per_value == 1 ||
          page.values.bits_per_value % 8 == 0);
}

}  // namespace

arrow::Result<std::optional<EncodedPage>> EncodeConstant(const PageContent& page,
                                                         const WriteChoices& choices) {
  if (page.num_valid == 0 || page.leaf->type.kind == LeafType::Kind::kNull) {
    ARROW_ASSIGN_OR_RAISE(auto encoded, EncodeNulls(page, choices));
    return encoded;
  }
  if (MayBeConstant(page, choices) && AllEqual(page.values)) return EncodeValue(page);
  return std::nullopt;
}

}  // namespace kinjo::format::file
