#include "format/file/mini_values_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "format/file/block_compression.h"
#include "format/file/fsst.h"
#include "format/file/fsst_encoder.h"
#include "format/file/word_encoder.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

// What a chunk of variable-width values, with their offsets, may have.
constexpr uint64_t kVariableChunkBytes = 4096;
// Readers expect the bytes behind 32-bit offsets at multiples of 4, behind 64-bit ones of 8.
constexpr uint8_t kFiller = 72;
constexpr uint64_t kLeastDictionaryValues = 100;
constexpr uint64_t kMostDictionaryItems = 100'000;

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

// How many values from `begin` on fill a chunk: a power of two, or all that are left.
uint64_t VariableStep(const ValueBlock& block, uint64_t width, uint64_t begin,
                      uint64_t most_slots) {
  const uint64_t left = block.num_values - begin;
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

uint64_t BytesOf(const ValueBlock& block) {
  if (!block.variable) return BytesForBits(block.bits_per_value * block.num_values);
  return block.offset(block.num_values) - block.offset(0);
}

// Both widths of offsets; codes of FSST have offsets of 64 bits whatever the column has.
MiniValues EncodeVariable(const ValueBlock& block, uint32_t offset_width, uint64_t most_slots) {
  MiniValues out;
  out.encoding.kind = Kind::kVariable;
  out.encoding.children.push_back(Flat(uint64_t{offset_width} * 8));
  out.bytes.reserve(BytesOf(block) + 2 * offset_width * block.num_values);
  for (uint64_t begin = 0; begin < block.num_values;) {
    const uint64_t count = VariableStep(block, offset_width, begin, most_slots);
    const size_t before = out.bytes.size();
    if (offset_width == 8) {
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

class ValueEncoding {
 public:
  ValueEncoding(const PageContent& page, const WriteChoices& choices, uint64_t most_slots)
      : page_(page), block_(page.values), choices_(choices), most_slots_(most_slots) {}

  arrow::Result<MiniValues> Run();

 private:
  using Compression = WriteChoices::Compression;

  arrow::Result<MiniValues> EncodeDictionary(const PageDictionary& dictionary,
                                             uint32_t index_bits) const;
  arrow::Result<std::optional<MiniValues>> TryDictionary(uint64_t other_cost) const;
  arrow::Result<MiniValues> EncodeText() const;
  arrow::Result<MiniValues> EncodeNumbers(const WordCosts& costs) const;
  arrow::Result<MiniValues> CompressChunks(MiniValues values) const;

  const PageContent& page_;
  const ValueBlock& block_;
  const WriteChoices& choices_;
  const uint64_t most_slots_;
};

template <typename Index>
MiniValues EncodeIndices(const std::vector<uint32_t>& indices, uint64_t most_slots) {
  const std::vector<Index> words(indices.begin(), indices.end());
  ValueBlock block;
  block.SetFixed(reinterpret_cast<const uint8_t*>(words.data()), sizeof(Index) * 8, words.size());
  return EncodeWords(block, CostsOfWords(block, most_slots), most_slots);
}

arrow::Result<MiniValues> ValueEncoding::EncodeDictionary(const PageDictionary& dictionary,
                                                          uint32_t index_bits) const {
  MiniValues out;
  switch (index_bits) {
    case 8:
      out = EncodeIndices<uint8_t>(dictionary.indices, most_slots_);
      break;
    case 16:
      out = EncodeIndices<uint16_t>(dictionary.indices, most_slots_);
      break;
    case 64:
      out = EncodeIndices<uint64_t>(dictionary.indices, most_slots_);
      break;
    default:
      out = EncodeIndices<uint32_t>(dictionary.indices, most_slots_);
  }
  ARROW_ASSIGN_OR_RAISE(out.dictionary, EncodeItems(page_, dictionary, choices_));
  out.num_dictionary_items = dictionary.item_slots.size();
  return out;
}

// Nothing when the values are too few or too many, or another encoding takes no more.
arrow::Result<std::optional<MiniValues>> ValueEncoding::TryDictionary(uint64_t other_cost) const {
  const uint64_t count = block_.num_values;
  if (count < kLeastDictionaryValues) return std::nullopt;
  const uint64_t most_items = std::min(count / 2, kMostDictionaryItems);
  const auto dictionary = FindDistinct(page_, most_items, other_cost);
  if (!dictionary) return std::nullopt;
  const auto items = static_cast<uint64_t>(dictionary->item_slots.size());
  const uint64_t item_bytes =
      dictionary->item_bytes + (block_.variable ? items * block_.offset_width : 0);
  ValueBlock indices;
  indices.SetFixed(reinterpret_cast<const uint8_t*>(dictionary->indices.data()), 32, count);
  if (CostsOfWords(indices, most_slots_).least() + item_bytes >= other_cost) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(auto out, EncodeDictionary(*dictionary, 32));
  return out;
}

arrow::Result<MiniValues> ValueEncoding::EncodeText() const {
  const uint64_t bytes = BytesOf(block_);
  const uint64_t offset_bytes = block_.num_values * block_.offset_width;
  const bool text = page_.leaf->type.type->id() == arrow::Type::STRING ||
                    page_.leaf->type.type->id() == arrow::Type::LARGE_STRING;
  const bool may_shrink =
      choices_.compression == Compression::kFsst ||
      (choices_.compression == Compression::kAny && text && WorthFsst(page_, bytes));
  // Codes take about half of the bytes, if they come at all.
  ARROW_ASSIGN_OR_RAISE(auto dictionary,
                        TryDictionary((may_shrink ? bytes / 2 : bytes) + offset_bytes));
  if (dictionary) return std::move(*dictionary);
  if (may_shrink && bytes != 0) {
    FsstValues codes = EncodeFsst(block_);
    if (codes.bytes.size() + kFsstTableBytes < bytes) {
      MiniValues out = EncodeVariable(codes.block(), block_.offset_width, most_slots_);
      Encoding fsst{.kind = Kind::kFsst};
      fsst.symbol_table = std::move(codes.table);
      fsst.children.push_back(std::move(out.encoding));
      out.encoding = std::move(fsst);
      return out;
    }
  }
  MiniValues out = EncodeVariable(block_, block_.offset_width, most_slots_);
  if (choices_.compression == Compression::kGeneral) return CompressChunks(std::move(out));
  return out;
}

// Buffer 0 of every chunk compressed; the values as they were when that doesn't help.
arrow::Result<MiniValues> ValueEncoding::CompressChunks(MiniValues values) const {
  MiniValues out;
  out.num_buffers = values.num_buffers;
  out.slots = values.slots;
  size_t position = 0;
  for (size_t i = 0; i < values.sizes.size(); ++i) {
    const Bytes part(values.bytes.data() + position, values.sizes[i]);
    position += part.size();
    if (i % values.num_buffers != 0) {
      out.bytes.insert(out.bytes.end(), part.begin(), part.end());
      out.sizes.push_back(part.size());
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(const auto shrunk, Compress(choices_.scheme, choices_.level, part));
    out.bytes.insert(out.bytes.end(), shrunk.begin(), shrunk.end());
    out.sizes.push_back(shrunk.size());
  }
  if (out.bytes.size() >= values.bytes.size()) return values;
  out.encoding = Encoding{.kind = Kind::kGeneral};
  out.encoding.scheme = choices_.scheme;
  out.encoding.children.push_back(std::move(values.encoding));
  return out;
}

// Flat chunks with byte k of all values before byte k + 1: what repeats comes together.
MiniValues SplitByteStreams(const MiniValues& flat, uint64_t width) {
  MiniValues out = flat;
  out.encoding = Encoding{.kind = Kind::kByteStreamSplit};
  out.encoding.children.push_back(flat.encoding);
  size_t position = 0;
  for (const uint64_t count : flat.slots) {
    for (uint64_t i = 0; i < count; ++i) {
      for (uint64_t k = 0; k < width; ++k) {
        out.bytes[position + k * count + i] = flat.bytes[position + i * width + k];
      }
    }
    position += count * width;
  }
  return out;
}

arrow::Result<MiniValues> ValueEncoding::EncodeNumbers(const WordCosts& costs) const {
  if (choices_.compression != Compression::kGeneral) {
    return EncodeWords(block_, costs, most_slots_);
  }
  MiniValues flat = EncodeFlatValues(block_, most_slots_);
  std::vector<MiniValues> ways;
  if (block_.bits_per_value == 32 || block_.bits_per_value == 64) {
    ARROW_ASSIGN_OR_RAISE(auto split,
                          CompressChunks(SplitByteStreams(flat, block_.bits_per_value / 8)));
    ways.push_back(std::move(split));
  }
  ARROW_ASSIGN_OR_RAISE(auto compressed, CompressChunks(std::move(flat)));
  ways.push_back(std::move(compressed));
  ways.push_back(EncodeWords(block_, costs, most_slots_));
  const auto smaller = [](const MiniValues& a, const MiniValues& b) {
    return a.bytes.size() < b.bytes.size();
  };
  return std::move(*std::min_element(ways.begin(), ways.end(), smaller));
}

arrow::Result<MiniValues> ValueEncoding::Run() {
  if (choices_.dictionary_index_bits != 0) {
    const auto dictionary = FindDistinct(page_, UINT32_MAX - 1, UINT64_MAX);
    const uint32_t bits = choices_.dictionary_index_bits;
    if (bits < 32 && dictionary->item_slots.size() > uint64_t{1} << (bits - 1)) {
      return base::MakeError(base::ErrorCode::kCapacity,
                             base::Concat(dictionary->item_slots.size(),
                                          " distinct values in one page of a dictionary column "
                                          "with indices of ",
                                          bits, " bits"));
    }
    return EncodeDictionary(*dictionary, bits);
  }
  const bool plain = choices_.compression == Compression::kNone;
  if (block_.variable) {
    if (plain) return EncodeVariable(block_, block_.offset_width, most_slots_);
    return EncodeText();
  }
  const bool is_list = !block_.item_validity.empty();
  const bool words = IsWordWidth(block_.bits_per_value);
  if (plain || is_list || (!words && block_.bits_per_value != 128)) {
    return EncodeFlatValues(block_, most_slots_);
  }
  WordCosts costs;
  if (words) costs = CostsOfWords(block_, most_slots_);
  const uint64_t cost = words ? costs.least() : BytesOf(block_);
  // Narrow values, and those that other encodings shrink to a few bits, gain nothing.
  if (block_.bits_per_value >= 64 && cost > block_.num_values / 2) {
    ARROW_ASSIGN_OR_RAISE(auto dictionary, TryDictionary(cost));
    if (dictionary) return std::move(*dictionary);
  }
  return words ? EncodeNumbers(costs) : EncodeFlatValues(block_, most_slots_);
}

}  // namespace

MiniValues EncodeFlatValues(const ValueBlock& block, uint64_t most_slots) {
  const auto& levels = block.item_validity;
  const uint64_t items = levels.empty() ? 1 : levels.back().items_per_value;
  MiniValues out;
  out.encoding = Flat(block.bits_per_value / items);
  uint64_t bits_per_slot = block.bits_per_value;
  for (size_t level = levels.size(); level-- > 0;) {
    const uint64_t outer = level == 0 ? 1 : levels[level - 1].items_per_value;
    Encoding list{.kind = Kind::kFixedSizeList,
                  .items_per_value = levels[level].items_per_value / outer};
    list.has_validity = levels[level].bits != nullptr;
    if (list.has_validity) bits_per_slot += levels[level].items_per_value;
    out.num_buffers += list.has_validity;
    list.children.push_back(std::move(out.encoding));
    out.encoding = std::move(list);
  }
  const uint64_t fitting = std::max<uint64_t>(2, kMiniChunkBytes * 8 / bits_per_slot);
  const uint64_t step = std::min(most_slots, std::bit_floor(fitting));
  out.bytes.reserve(BytesForBits(bits_per_slot * block.num_values));
  for (uint64_t begin = 0; begin < block.num_values; begin += step) {
    const uint64_t count = std::min(step, block.num_values - begin);
    out.slots.push_back(count);
    const auto add_bits = [&](const uint8_t* bits, uint64_t width) {
      AppendBits(bits, begin * width, count * width, &out.bytes);
      out.sizes.push_back(BytesForBits(count * width));
    };
    for (const auto& validity : levels) {
      if (validity.bits != nullptr) add_bits(validity.bits, validity.items_per_value);
    }
    add_bits(block.values, block.bits_per_value);
  }
  return out;
}

bool WorthFsst(const PageContent& page, uint64_t bytes) {
  constexpr uint64_t kLeastBytes = 32 << 10;
  constexpr uint64_t kLeastLongest = 5;
  return bytes >= kLeastBytes && page.longest_value >= kLeastLongest;
}

arrow::Result<MiniValues> EncodeMiniValues(const PageContent& page, const WriteChoices& choices,
                                           uint64_t most_slots) {
  return ValueEncoding(page, choices, most_slots).Run();
}

}  // namespace kinjo::format::file
