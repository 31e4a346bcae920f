#include "format/file/page_dictionary.h"

#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "format/file/block_compression.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

constexpr uint32_t kFree = UINT32_MAX;

std::string_view ValueAt(const ValueBlock& block, uint64_t slot) {
  if (block.variable) {
    const uint64_t begin = block.offset(slot);
    return {reinterpret_cast<const char*>(block.bytes) + begin, block.offset(slot + 1) - begin};
  }
  const uint64_t width = block.bits_per_value / 8;
  return {reinterpret_cast<const char*>(block.values) + slot * width, width};
}

uint64_t HashOf(std::string_view value) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  if (value.size() != 8) return std::hash<std::string_view>()(value) * kMultiplier;
  uint64_t word = 0;
  std::memcpy(&word, value.data(), 8);
  word *= kMultiplier;
  return (word ^ (word >> 29)) * kMultiplier;
}

// An open-addressed table of item numbers.
class DistinctSearch {
 public:
  DistinctSearch(const ValueBlock& block, PageDictionary* found) : block_(block), found_(*found) {
    Rehash(10);
  }

  uint32_t NumberOf(uint64_t slot) {
    const std::string_view value = ValueAt(block_, slot);
    size_t place = HashOf(value) >> shift_;
    while (table_[place] != kFree) {
      if (ValueAt(block_, found_.item_slots[table_[place]]) == value) return table_[place];
      place = (place + 1) & (table_.size() - 1);
    }
    const auto number = static_cast<uint32_t>(found_.item_slots.size());
    table_[place] = number;
    found_.item_slots.push_back(slot);
    found_.item_bytes += value.size();
    if (found_.item_slots.size() * 2 > table_.size()) Rehash(64 - shift_ + 1);
    return number;
  }

 private:
  void Rehash(uint32_t bits) {
    shift_ = 64 - bits;
    table_.assign(size_t{1} << bits, kFree);
    for (size_t number = 0; number < found_.item_slots.size(); ++number) {
      size_t place = HashOf(ValueAt(block_, found_.item_slots[number])) >> shift_;
      while (table_[place] != kFree) place = (place + 1) & (table_.size() - 1);
      table_[place] = static_cast<uint32_t>(number);
    }
  }

  const ValueBlock& block_;
  PageDictionary& found_;
  uint32_t shift_ = 0;
  std::vector<uint32_t> table_;
};

// Bits of an offset, position of the bytes, offsets from 0, the bytes.
template <typename Offset>
std::vector<uint8_t> VariableItems(const ValueBlock& block, const PageDictionary& dictionary) {
  const std::vector<uint64_t>& slots = dictionary.item_slots;
  const size_t position = (slots.size() + 3) * sizeof(Offset);
  std::vector<uint8_t> bytes(position + dictionary.item_bytes);
  const auto put = [&](size_t number, uint64_t value) {
    const auto word = static_cast<Offset>(value);
    std::memcpy(bytes.data() + number * sizeof(Offset), &word, sizeof(Offset));
  };
  put(0, sizeof(Offset) * 8);
  put(1, position);
  put(2, 0);
  uint64_t end = 0;
  for (size_t i = 0; i < slots.size(); ++i) {
    const std::string_view value = ValueAt(block, slots[i]);
    if (!value.empty()) std::memcpy(bytes.data() + position + end, value.data(), value.size());
    end += value.size();
    put(3 + i, end);
  }
  return bytes;
}

}  // namespace

std::optional<PageDictionary> FindDistinct(const PageContent& page, uint64_t most_items,
                                           uint64_t most_bytes) {
  const OwnLevels& levels = page.levels;
  PageDictionary found;
  found.indices.reserve(page.values.num_values);
  DistinctSearch search(page.values, &found);
  uint64_t slot = 0;
  for (uint64_t entry = 0; entry < levels.num_entries; ++entry) {
    if (!levels.IsVisible(entry)) continue;
    const bool is_null = !levels.def.empty() && levels.def[entry] != 0;
    if (is_null) {
      found.indices.push_back(found.indices.empty() ? 0 : found.indices.back());
    } else {
      found.indices.push_back(search.NumberOf(slot));
      if (found.item_slots.size() > most_items || found.item_bytes > most_bytes) {
        return std::nullopt;
      }
    }
    ++slot;
  }
  return found;
}

arrow::Result<EncodedItems> EncodeItems(const PageContent& page, const PageDictionary& dictionary,
                                        const WriteChoices& choices) {
  const ValueBlock& block = page.values;
  EncodedItems items;
  if (block.variable) {
    items.encoding.kind = Kind::kVariable;
    items.encoding.children = {
        Encoding{.kind = Kind::kFlat, .bits = uint64_t{block.offset_width} * 8}};
    items.bytes = block.offset_width == 8 ? VariableItems<uint64_t>(block, dictionary)
                                          : VariableItems<uint32_t>(block, dictionary);
  } else {
    items.encoding = Encoding{.kind = Kind::kFlat, .bits = block.bits_per_value};
    items.bytes.reserve(dictionary.item_bytes);
    for (const uint64_t slot : dictionary.item_slots) {
      const std::string_view value = ValueAt(block, slot);
      items.bytes.insert(items.bytes.end(), value.begin(), value.end());
    }
  }
  if (!choices.is_v22()) return items;
  ARROW_ASSIGN_OR_RAISE(auto compressed,
                        Compress(proto::CompressionScheme::kLz4, std::nullopt, items.bytes));
  if (compressed.size() >= items.bytes.size()) return items;
  Encoding general{.kind = Kind::kGeneral};
  general.scheme = proto::CompressionScheme::kLz4;
  general.children.push_back(std::move(items.encoding));
  return EncodedItems{std::move(general), std::move(compressed)};
}

}  // namespace kinjo::format::file
