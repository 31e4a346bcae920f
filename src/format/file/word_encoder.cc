#include "format/file/word_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "format/file/bitpacking.h"
#include "format/file/rle.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

// Header, index word and the padding of the parts of a chunk, about.
constexpr uint64_t kChunkOverhead = 20;

template <typename T>
T WordAt(const ValueBlock& block, uint64_t i) {
  return Load<T>(block.values + i * sizeof(T));
}

template <typename T>
uint32_t BitsNeeded(const ValueBlock& block, uint64_t begin, uint64_t end) {
  T bits = 0;
  for (uint64_t i = begin; i < end; ++i) bits = static_cast<T>(bits | WordAt<T>(block, i));
  return static_cast<uint32_t>(std::bit_width(bits));
}

template <typename T>
WordCosts CostsOf(const ValueBlock& block, uint64_t most_slots) {
  const uint64_t count = block.num_values;
  WordCosts costs;
  const uint64_t flat_slots = std::min(most_slots, kMiniChunkBytes / sizeof(T));
  costs.flat = count * sizeof(T) + (count / flat_slots + 1) * kChunkOverhead;
  uint64_t runs = 1;
  for (uint64_t i = 1; i < count; ++i) runs += WordAt<T>(block, i) != WordAt<T>(block, i - 1);
  costs.runs = (runs + count / UINT8_MAX) * (sizeof(T) + 1) +
               (count / most_slots + 1) * (kChunkOverhead + sizeof(T));
  costs.packed = UINT64_MAX;
  if (most_slots >= kPackedBlock) {
    costs.packed = 0;
    for (uint64_t begin = 0; begin < count; begin += kPackedBlock) {
      const uint32_t bits = BitsNeeded<T>(block, begin, std::min(begin + kPackedBlock, count));
      costs.packed += kChunkOverhead + sizeof(T) + PackedBlockBytes(bits);
    }
  }
  return costs;
}

template <typename T>
MiniValues EncodePacked(const ValueBlock& block) {
  MiniValues out;
  out.encoding = Encoding{.kind = Kind::kInlineBitpacking, .bits = sizeof(T) * 8};
  for (uint64_t begin = 0; begin < block.num_values; begin += kPackedBlock) {
    const uint64_t end = std::min(begin + kPackedBlock, block.num_values);
    const uint32_t bits = BitsNeeded<T>(block, begin, end);
    const size_t start = out.bytes.size();
    out.bytes.resize(start + sizeof(T) + PackedBlockBytes(bits));
    const T width = static_cast<T>(bits);
    std::memcpy(out.bytes.data() + start, &width, sizeof(T));
    T padded[kPackedBlock] = {};
    const uint8_t* values = block.values + begin * sizeof(T);
    if (end - begin < kPackedBlock) {
      std::memcpy(padded, values, (end - begin) * sizeof(T));
      values = reinterpret_cast<const uint8_t*>(padded);
    }
    PackBlock(values, sizeof(T) * 8, bits, out.bytes.data() + start + sizeof(T));
    out.slots.push_back(end - begin);
    out.sizes.push_back(out.bytes.size() - start);
  }
  return out;
}

template <typename T>
MiniValues EncodeRuns(const ValueBlock& block, uint64_t most_slots) {
  MiniValues out;
  out.encoding = Encoding{.kind = Kind::kRle};
  out.encoding.children = {Encoding{.kind = Kind::kFlat, .bits = sizeof(T) * 8},
                           Encoding{.kind = Kind::kFlat, .bits = 8}};
  out.num_buffers = 2;
  for (uint64_t begin = 0; begin < block.num_values; begin += most_slots) {
    const uint64_t count = std::min(most_slots, block.num_values - begin);
    const OwnRuns runs = FindRuns(block.values + begin * sizeof(T), sizeof(T), count);
    out.slots.push_back(count);
    for (const auto* part : {&runs.values, &runs.lengths}) {
      out.bytes.insert(out.bytes.end(), part->begin(), part->end());
      out.sizes.push_back(part->size());
    }
  }
  return out;
}

template <typename T>
MiniValues EncodeAs(const ValueBlock& block, const WordCosts& costs, uint64_t most_slots) {
  if (costs.runs == costs.least()) return EncodeRuns<T>(block, most_slots);
  if (costs.packed == costs.least()) return EncodePacked<T>(block);
  return EncodeFlatValues(block, most_slots);
}

}  // namespace

WordCosts CostsOfWords(const ValueBlock& block, uint64_t most_slots) {
  switch (block.bits_per_value) {
    case 8:
      return CostsOf<uint8_t>(block, most_slots);
    case 16:
      return CostsOf<uint16_t>(block, most_slots);
    case 32:
      return CostsOf<uint32_t>(block, most_slots);
    default:
      return CostsOf<uint64_t>(block, most_slots);
  }
}

MiniValues EncodeWords(const ValueBlock& block, const WordCosts& costs, uint64_t most_slots) {
  switch (block.bits_per_value) {
    case 8:
      return EncodeAs<uint8_t>(block, costs, most_slots);
    case 16:
      return EncodeAs<uint16_t>(block, costs, most_slots);
    case 32:
      return EncodeAs<uint32_t>(block, costs, most_slots);
    default:
      return EncodeAs<uint64_t>(block, costs, most_slots);
  }
}

}  // namespace kinjo::format::file
