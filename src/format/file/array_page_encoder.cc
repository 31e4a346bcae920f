#include "format/file/array_page_encoder.h"

#include <cstring>
#include <utility>

#include "format/file/page_dictionary.h"

namespace kinjo::format::file {

namespace {

using proto::ArrayEncoding;
using Kind = ArrayEncoding::Kind;
using Nulls = ArrayEncoding::Nulls;

// The indices of a string column's own dictionary have 8 bits and 0 is null.
constexpr uint64_t kMostItems = 254;
constexpr uint64_t kLeastDictionaryValues = 100;

ArrayEncoding Flat(uint64_t bits, size_t number) {
  return {
      .kind = Kind::kFlat, .bits_per_value = bits, .buffer_index = static_cast<uint32_t>(number)};
}

ArrayEncoding Nullable(Nulls nulls, std::vector<ArrayEncoding> children) {
  ArrayEncoding node{.kind = Kind::kNullable, .nulls = nulls};
  node.children = std::move(children);
  return node;
}

class ArrayPageEncoding {
 public:
  ArrayPageEncoding(const PageContent& page, const WriteChoices& choices)
      : page_(page), choices_(choices) {}

  EncodedArrayPage Run() {
    if (page_.num_valid == 0 && choices_.dictionary_index_bits == 0) {
      page_out_.encoding = Nullable(Nulls::kAll, {});
    } else if (choices_.dictionary_index_bits != 0) {
      EncodeArrowDictionary();
    } else if (page_.values.variable) {
      if (!TryDictionary()) page_out_.encoding = Binary(page_.values, &page_.levels.def);
    } else {
      EncodeFixed();
    }
    return std::move(page_out_);
  }

 private:
  bool IsNull(uint64_t slot) const {
    return !page_.levels.def.empty() && page_.levels.def[slot] != 0;
  }
  size_t Add(std::vector<uint8_t> bytes) {
    page_out_.buffers.push_back(BufferOf(std::move(bytes)));
    return page_out_.buffers.size() - 1;
  }

  void EncodeFixed();
  ArrayEncoding Binary(const ValueBlock& block, const std::vector<uint16_t>* def);
  bool TryDictionary();
  void EncodeArrowDictionary();
  ArrayEncoding Items(const PageDictionary& dictionary, bool with_null);

  const PageContent& page_;
  const WriteChoices& choices_;
  EncodedArrayPage page_out_;
};

// Validity, the validity of items level by level, the values.
void ArrayPageEncoding::EncodeFixed() {
  const ValueBlock& block = page_.values;
  const uint64_t count = block.num_values;
  std::vector<ArrayEncoding> validity(block.item_validity.size() + 1);
  std::vector<bool> has_nulls(validity.size());
  has_nulls[0] = page_.num_valid < count;
  if (has_nulls[0]) {
    std::vector<uint8_t> bits(BytesForBits(count));
    for (uint64_t i = 0; i < count; ++i) {
      if (!IsNull(i)) bits[i / 8] |= 1 << (i % 8);
    }
    validity[0] = Flat(1, Add(std::move(bits)));
  }
  for (size_t level = 0; level < block.item_validity.size(); ++level) {
    const auto& items = block.item_validity[level];
    has_nulls[level + 1] = items.bits != nullptr;
    if (items.bits == nullptr) continue;
    const uint64_t bytes = BytesForBits(count * items.items_per_value);
    validity[level + 1] = Flat(1, Add({items.bits, items.bits + bytes}));
  }
  const uint64_t items =
      block.item_validity.empty() ? 1 : block.item_validity.back().items_per_value;
  const uint64_t bytes = BytesForBits(count * block.bits_per_value);
  ArrayEncoding tree =
      Flat(block.bits_per_value / items, Add({block.values, block.values + bytes}));
  for (size_t level = validity.size(); level-- > 0;) {
    tree = has_nulls[level] ? Nullable(Nulls::kSome, {std::move(validity[level]), std::move(tree)})
                            : Nullable(Nulls::kNone, {std::move(tree)});
    if (level == 0) break;
    const uint64_t outer = level == 1 ? 1 : block.item_validity[level - 2].items_per_value;
    ArrayEncoding list{.kind = Kind::kFixedSizeList,
                       .dimension = block.item_validity[level - 1].items_per_value / outer};
    list.children.push_back(std::move(tree));
    tree = std::move(list);
  }
  page_out_.encoding = std::move(tree);
}

// End offsets, to which a null adds more than any of them, and the bytes.
ArrayEncoding ArrayPageEncoding::Binary(const ValueBlock& block, const std::vector<uint16_t>* def) {
  const uint64_t first = block.offset(0);
  const uint64_t total = block.offset(block.num_values) - first;
  const uint64_t adjustment = total + 1;
  std::vector<uint64_t> ends;
  ends.reserve(block.num_values);
  for (uint64_t i = 0; i < block.num_values; ++i) {
    const bool is_null = def != nullptr && !def->empty() && (*def)[i] != 0;
    ends.push_back(block.offset(i + 1) - first + (is_null ? adjustment : 0));
  }
  page_out_.buffers.push_back(BufferOfNumbers(ends));
  ArrayEncoding binary{.kind = Kind::kBinary, .null_adjustment = adjustment};
  binary.children.push_back(FlatWithoutNulls(64, page_out_.buffers.size() - 1));
  const uint8_t* bytes = block.bytes + first;
  binary.children.push_back(Flat(
      8, Add(total == 0 ? std::vector<uint8_t>() : std::vector<uint8_t>(bytes, bytes + total))));
  return binary;
}

// The distinct values; with a null as one more behind them.
ArrayEncoding ArrayPageEncoding::Items(const PageDictionary& dictionary, bool with_null) {
  const ValueBlock& block = page_.values;
  std::vector<uint8_t> bytes;
  bytes.reserve(dictionary.item_bytes);
  std::vector<uint64_t> offsets{0};
  for (const uint64_t slot : dictionary.item_slots) {
    const uint64_t begin = block.offset(slot);
    bytes.insert(bytes.end(), block.bytes + begin, block.bytes + block.offset(slot + 1));
    offsets.push_back(bytes.size());
  }
  std::vector<uint16_t> def(dictionary.item_slots.size(), 0);
  if (with_null) {
    offsets.push_back(bytes.size());
    def.push_back(1);
  }
  ValueBlock items;
  items.SetVariable(bytes.data(), reinterpret_cast<const uint8_t*>(offsets.data()), 8, def.size());
  return Binary(items, &def);
}

bool ArrayPageEncoding::TryDictionary() {
  const uint64_t count = page_.values.num_values;
  const bool text = page_.leaf->type.type->id() == arrow::Type::STRING;
  if (!text || count < kLeastDictionaryValues) return false;
  const auto dictionary = FindDistinct(page_, kMostItems, UINT64_MAX);
  if (!dictionary || dictionary->item_slots.size() > count / 2) return false;
  std::vector<uint8_t> indices;
  indices.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    indices.push_back(IsNull(i) ? 0 : static_cast<uint8_t>(dictionary->indices[i] + 1));
  }
  ArrayEncoding node{.kind = Kind::kDictionary, .num_items = dictionary->item_slots.size()};
  node.children.push_back(FlatWithoutNulls(8, Add(std::move(indices))));
  node.children.push_back(Items(*dictionary, false));
  page_out_.encoding = std::move(node);
  return true;
}

// Indices of the column's own width count from 0; a null is an item that is null.
void ArrayPageEncoding::EncodeArrowDictionary() {
  const auto dictionary = FindDistinct(page_, UINT32_MAX - 1, UINT64_MAX);
  const uint64_t null_item = dictionary->item_slots.size();
  const bool with_null = page_.num_valid < page_.values.num_values;
  const uint32_t width = choices_.dictionary_index_bits / 8;
  std::vector<uint8_t> indices(page_.values.num_values * width);
  for (uint64_t i = 0; i < page_.values.num_values; ++i) {
    const uint64_t index = IsNull(i) ? null_item : dictionary->indices[i];
    std::memcpy(indices.data() + i * width, &index, width);
  }
  ArrayEncoding node{.kind = Kind::kDictionary, .num_items = null_item + (with_null ? 1 : 0)};
  node.children.push_back(FlatWithoutNulls(width * 8, Add(std::move(indices))));
  node.children.push_back(Items(*dictionary, with_null));
  page_out_.encoding = std::move(node);
}

}  // namespace

ArrayEncoding FlatWithoutNulls(uint64_t bits, size_t number) {
  return Nullable(Nulls::kNone, {Flat(bits, number)});
}

std::shared_ptr<arrow::Buffer> BufferOfNumbers(const std::vector<uint64_t>& numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(uint64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return BufferOf(std::move(bytes));
}

EncodedArrayPage EncodeArrayPage(const PageContent& page, const WriteChoices& choices) {
  return ArrayPageEncoding(page, choices).Run();
}

}  // namespace kinjo::format::file
