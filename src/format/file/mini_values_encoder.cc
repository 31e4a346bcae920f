#include "format/file/mini_values_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

// What a chunk of fixed-width values, and one of variable-width values with their offsets, may
// have. Larger chunks save headers, smaller ones read less for a single row.
constexpr uint64_t kChunkBytes = 8192;
constexpr uint64_t kVariableChunkBytes = 4096;
// Readers expect the bytes behind 32-bit offsets at multiples of 4, behind 64-bit ones of 8.
constexpr uint8_t kFiller = 72;

Encoding Flat(uint64_t bits) { return Encoding{.kind = Kind::kFlat, .bits = bits}; }

// Bits [begin, begin + count) of `bits`, from bit 0 of a new byte on.
void AppendBits(const uint8_t* bits, uint64_t begin, uint64_t count, std::vector<uint8_t>* out) {
  const size_t start = out->size();
  out->resize(start + BytesForBits(count));
  if (begin % 8 == 0) {
    std::memcpy(out->data() + start, bits + begin / 8, BytesForBits(count));
    if (count % 8 != 0) out->back() &= static_cast<uint8_t>((1u << (count % 8)) - 1);
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (BitAt(bits, begin + i)) (*out)[start + i / 8] |= 1 << (i % 8);
  }
}

// Flat values, or fixed-size lists of them with the validity of their items.
MiniValues EncodeFlat(const PageContent& page, uint64_t most_slots) {
  const LeafType& type = page.leaf->type;
  const ValueBlock& block = page.values;
  const uint64_t items = type.items_per_value.empty() ? 1 : type.items_per_value.back();
  MiniValues out;
  out.encoding = Flat(block.bits_per_value / items);
  uint64_t bits_per_slot = block.bits_per_value;
  for (size_t level = type.items_per_value.size(); level-- > 0;) {
    const uint64_t outer = level == 0 ? 1 : type.items_per_value[level - 1];
    Encoding list{.kind = Kind::kFixedSizeList,
                  .items_per_value = type.items_per_value[level] / outer};
    list.has_validity = block.item_validity[level].bits != nullptr;
    if (list.has_validity) bits_per_slot += type.items_per_value[level];
    out.num_buffers += list.has_validity;
    list.children.push_back(std::move(out.encoding));
    out.encoding = std::move(list);
  }
  const uint64_t fitting = std::max<uint64_t>(2, kChunkBytes * 8 / bits_per_slot);
  const uint64_t step = std::min(most_slots, std::bit_floor(fitting));
  out.bytes.reserve(BytesForBits(bits_per_slot * block.num_values));
  for (uint64_t begin = 0; begin < block.num_values; begin += step) {
    const uint64_t count = std::min(step, block.num_values - begin);
    out.slots.push_back(count);
    const auto add_bits = [&](const uint8_t* bits, uint64_t width) {
      AppendBits(bits, begin * width, count * width, &out.bytes);
      out.sizes.push_back(BytesForBits(count * width));
    };
    for (const auto& validity : block.item_validity) {
      if (validity.bits != nullptr) add_bits(validity.bits, validity.items_per_value);
    }
    add_bits(block.values, block.bits_per_value);
  }
  return out;
}

// How many values from `begin` on fill a chunk: a power of two, or all that are left.
uint64_t VariableStep(const ValueBlock& block, uint64_t begin, uint64_t most_slots) {
  const uint64_t left = block.num_values - begin;
  const uint64_t width = block.offset_width;
  const auto bytes = [&](uint64_t count) {
    return (count + 1) * width + block.offset(begin + count) - block.offset(begin);
  };
  uint64_t step = 2;
  while (step < left && step * 2 <= most_slots &&
         bytes(std::min(step * 2, left)) <= kVariableChunkBytes) {
    step *= 2;
  }
  return std::min(step, left);
}

template <typename Offset>
void AppendVariableChunk(const ValueBlock& block, uint64_t begin, uint64_t count,
                         std::vector<uint8_t>* out) {
  const uint64_t first = block.offset(begin);
  const uint64_t size = block.offset(begin + count) - first;
  const size_t start = out->size();
  const uint64_t header = (count + 1) * sizeof(Offset);
  const uint64_t total = header + (size + sizeof(Offset) - 1) / sizeof(Offset) * sizeof(Offset);
  out->resize(start + total, kFiller);
  uint8_t* chunk = out->data() + start;
  for (uint64_t i = 0; i <= count; ++i) {
    const auto offset = static_cast<Offset>(header + (block.offset(begin + i) - first));
    std::memcpy(chunk + i * sizeof(Offset), &offset, sizeof(Offset));
  }
  if (size != 0) std::memcpy(chunk + header, block.bytes + first, size);
}

MiniValues EncodeVariable(const ValueBlock& block, uint64_t most_slots) {
  MiniValues out;
  out.encoding.kind = Kind::kVariable;
  out.encoding.children.push_back(Flat(uint64_t{block.offset_width} * 8));
  for (uint64_t begin = 0; begin < block.num_values;) {
    const uint64_t count = VariableStep(block, begin, most_slots);
    const size_t before = out.bytes.size();
    if (block.offset_width == 8) {
      AppendVariableChunk<uint64_t>(block, begin, count, &out.bytes);
    } else {
      AppendVariableChunk<uint32_t>(block, begin, count, &out.bytes);
    }
    out.slots.push_back(count);
    out.sizes.push_back(out.bytes.size() - before);
    begin += count;
  }
  return out;
}

}  // namespace

arrow::Result<MiniValues> EncodeMiniValues(const PageContent& page, const WriteChoices& /*choices*/,
                                           uint64_t most_slots) {
  if (page.values.variable) return EncodeVariable(page.values, most_slots);
  return EncodeFlat(page, most_slots);
}

}  // namespace kinjo::format::file
