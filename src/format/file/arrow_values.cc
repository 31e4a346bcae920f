#include "format/file/arrow_values.h"

#include "arrow/array/util.h"
#include "arrow/util/bit_util.h"
#include "arrow/util/bitmap_ops.h"

namespace kinjo::format::file {

namespace {

const uint8_t* Data(const std::shared_ptr<arrow::Buffer>& buffer) {
  return buffer == nullptr ? nullptr : buffer->data();
}

const uint8_t* ValidityOf(const arrow::ArrayData& array) {
  if (array.GetNullCount() == 0) return nullptr;
  return Data(array.buffers[0]);
}

}  // namespace

arrow::Status ArrowValues::Open(const LeafColumn& leaf, const arrow::ArrayData& array) {
  if (array.type->id() != arrow::Type::DICTIONARY) return OpenPlain(leaf.type, array);
  const auto& type = static_cast<const arrow::DictionaryType&>(*array.type);
  const arrow::ArrayData& items = *array.dictionary;
  ARROW_RETURN_NOT_OK(OpenPlain(leaf.type, items));
  index_width_ = static_cast<uint32_t>(type.index_type()->bit_width()) / 8;
  indices_ = Data(array.buffers[1]);
  index_offset_ = array.offset;
  index_validity_ = ValidityOf(array);
  item_bits_ = ValidityOf(items);
  item_offset_ = items.offset;
  return arrow::Status::OK();
}

arrow::Status ArrowValues::OpenPlain(const LeafType& leaf, const arrow::ArrayData& array) {
  first_ = array.offset;
  switch (leaf.kind) {
    case LeafType::Kind::kNull:
      return arrow::Status::OK();
    case LeafType::Kind::kVariable: {
      static constexpr uint8_t kNoOffsets[16] = {};
      const uint8_t* offsets = Data(array.buffers[1]);
      block_.SetVariable(Data(array.buffers[2]), offsets == nullptr ? kNoOffsets : offsets,
                         leaf.large_offsets ? 8 : 4,
                         static_cast<uint64_t>(array.offset + array.length));
      return arrow::Status::OK();
    }
    case LeafType::Kind::kFixed:
      break;
  }
  if (!leaf.items_per_value.empty()) return OpenFixedSizeList(leaf, array);
  block_.SetFixed(Data(array.buffers[1]), leaf.bits_per_value,
                  static_cast<uint64_t>(array.offset + array.length));
  return arrow::Status::OK();
}

// Every level may have an offset of its own; what the block shows begins at the array's start.
arrow::Status ArrowValues::OpenFixedSizeList(const LeafType& leaf, const arrow::ArrayData& array) {
  const arrow::ArrayData* level = &array;
  int64_t start = array.offset;
  std::vector<ValueBlock::ItemValidity> validity;
  const auto move = [&](const uint8_t* bits, int64_t offset,
                        int64_t length) -> arrow::Result<const uint8_t*> {
    if (bits == nullptr) return nullptr;
    if (offset % 8 == 0) return bits + offset / 8;
    ARROW_ASSIGN_OR_RAISE(
        auto copy, arrow::internal::CopyBitmap(arrow::default_memory_pool(), bits, offset, length));
    moved_.push_back(std::move(copy));
    return moved_.back()->data();
  };
  for (const uint64_t items : leaf.items_per_value) {
    const auto& type = static_cast<const arrow::FixedSizeListType&>(*level->type);
    const arrow::ArrayData* child = level->child_data[0].get();
    start = start * type.list_size() + child->offset;
    ARROW_ASSIGN_OR_RAISE(const uint8_t* bits, move(ValidityOf(*child), start,
                                                    array.length * static_cast<int64_t>(items)));
    validity.push_back({items, bits});
    level = child;
  }
  const auto item_bits = static_cast<int64_t>(leaf.bits_per_value / leaf.items_per_value.back());
  const uint8_t* values = Data(level->buffers[1]);
  const int64_t first_bit = start * item_bits;
  ARROW_ASSIGN_OR_RAISE(
      values, move(values, first_bit, array.length * static_cast<int64_t>(leaf.bits_per_value)));
  block_.SetFixed(values, leaf.bits_per_value, static_cast<uint64_t>(array.length));
  block_.item_validity = std::move(validity);
  first_ = 0;
  return arrow::Status::OK();
}

uint64_t ArrowValues::Index(int64_t element) const {
  const int64_t position = index_offset_ + element;
  const bool valid =
      index_validity_ == nullptr || arrow::bit_util::GetBit(index_validity_, position);
  // What stands at a null is arbitrary.
  return valid ? LoadUnsigned(indices_ + position * index_width_, index_width_) : 0;
}

bool ArrowValues::ItemIsNull(int64_t element) const {
  const auto item = static_cast<int64_t>(Index(element));
  return item_bits_ != nullptr && !arrow::bit_util::GetBit(item_bits_, item_offset_ + item);
}

arrow::Status ArrowValues::Append(int64_t begin, int64_t count, const Where& where,
                                  ValueSink* sink) const {
  if (indices_ == nullptr) {
    return sink->Append(block_, static_cast<uint64_t>(first_ + begin), static_cast<uint64_t>(count),
                        where);
  }
  std::vector<uint64_t> picked(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    picked[static_cast<size_t>(i)] = static_cast<uint64_t>(first_) + Index(begin + i);
  }
  if (block_.num_values == 0) return sink->AppendEmpty(static_cast<uint64_t>(count));
  return sink->AppendPicked(block_, picked, where);
}

ValueBlock BlockOf(const LeafType& leaf, const arrow::ArrayData& array) {
  ValueBlock block;
  const auto count = static_cast<uint64_t>(array.length);
  if (leaf.kind == LeafType::Kind::kNull) {
    block.num_values = count;
    return block;
  }
  if (leaf.kind == LeafType::Kind::kVariable) {
    block.SetVariable(Data(array.buffers[2]), Data(array.buffers[1]), leaf.large_offsets ? 8 : 4,
                      count);
    return block;
  }
  const arrow::ArrayData* level = &array;
  std::vector<ValueBlock::ItemValidity> validity;
  for (const uint64_t items : leaf.items_per_value) {
    level = level->child_data[0].get();
    validity.push_back({items, Data(level->buffers[0])});
  }
  block.SetFixed(Data(level->buffers[1]), leaf.bits_per_value, count);
  block.item_validity = std::move(validity);
  return block;
}

}  // namespace kinjo::format::file
