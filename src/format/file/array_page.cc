// Leaf pages of version 2.0: a tree of array encodings over whole buffers. Made by MakeArrayPage
// (page.h). docs/format/data-file.md has the shapes that are read.
//
// Rows are read from the multiple of 8 at or below the first one asked for, so that every part,
// bitmaps and vectors of bits included, starts at a byte.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "format/file/binary_part.h"
#include "format/file/flat_part.h"
#include "format/file/page.h"

namespace kinjo::format::file {

namespace {

using proto::ArrayEncoding;
using Kind = ArrayEncoding::Kind;
using Nulls = ArrayEncoding::Nulls;

// One fixed-size-list level.
struct ListLevel {
  uint64_t items_per_value = 0;  // of a row, product of the dimensions down to this level
  std::optional<FlatPart> validity;
};

struct Shape {
  bool all_null = false;
  std::optional<FlatPart> validity;
  std::vector<ListLevel> levels;
  bool null_items = false;                   // of the last level, all of them
  std::optional<FlatPart> values;            // fixed width, or indices of the dictionary
  std::shared_ptr<const BinaryPart> binary;  // variable width, or items of the dictionary
  std::optional<FlatPart> fixed_items;       // of the dictionary, else of fixed width
  std::optional<FlatPart> item_validity;
  uint64_t num_items = 0;                    // of the dictionary
  std::vector<CompressedBuffer> compressed;  // the buffers that the parts above name by number
  bool is_dictionary() const { return values && (binary != nullptr || fixed_items); }
};

// What is read whole whichever rows are asked for.
struct ArrayState final : PageState {
  OpenedBuffers opened;
  BinaryRows items;  // of the dictionary
  std::vector<uint8_t> item_bytes;
  Scratch item_memory;
};

class ArrayPage final : public Page {
 public:
  ArrayPage(Shape shape, PagePlace place) : shape_(std::move(shape)), place_(std::move(place)) {}

  std::vector<io::ByteRange> StateRanges() const override;
  arrow::Result<std::shared_ptr<const PageState>> MakeState(Buffers buffers) const override;
  arrow::Result<std::unique_ptr<PageRead>> Start(
      const LeafColumn& leaf, std::span<const PageRows> rows,
      std::shared_ptr<const PageState> state) const override;

  const Shape& shape() const { return shape_; }
  const PagePlace& place() const { return place_; }

 private:
  arrow::Status ReadBinaryItems(Buffers buffers, ArrayState* state) const;
  arrow::Status ReadFixedItems(Buffers buffers, ArrayState* state) const;

  const Shape shape_;
  const PagePlace place_;
};

class ArrayPageRead final : public PageRead {
 public:
  ArrayPageRead(const ArrayPage& page, std::shared_ptr<const ArrayState> state,
                bool arrow_dictionary, PageLevels levels, std::span<const PageRows> rows)
      : shape_(page.shape()),
        state_(std::move(state)),
        where_(page.place().where),
        arrow_dictionary_(arrow_dictionary),
        levels_(std::move(levels)),
        rows_(rows) {}

  arrow::Status PlanLookups(std::vector<io::ByteRange>* ranges) override;
  arrow::Status PlanData(Buffers lookups, std::vector<io::ByteRange>* ranges) override;
  arrow::Status Decode(Buffers data, Scratch* scratch, ColumnSink* sink) override;

 private:
  static uint64_t Aligned(uint64_t row) { return row & ~uint64_t{7}; }

  arrow::Status Plan(const FlatPart& part, uint64_t begin, uint64_t end,
                     std::vector<io::ByteRange>* ranges) const;
  arrow::Result<Bytes> Take(const FlatPart& part, uint64_t begin, uint64_t end);
  arrow::Status DecodeFixed(const PageRows& range, ColumnSink* sink);
  arrow::Status AppendNullItems(const std::vector<ValueBlock::ItemValidity>& levels, uint64_t skip,
                                uint64_t count, ColumnSink* sink);
  arrow::Status DecodeBinary(size_t number, ColumnSink* sink);
  arrow::Status DecodeDictionary(const PageRows& range, ColumnSink* sink);
  arrow::Status AppendLevels(uint64_t count, bool any_null, ColumnSink* sink);

  const Shape& shape_;
  const std::shared_ptr<const ArrayState> state_;
  const Where where_;
  const bool arrow_dictionary_;
  const PageLevels levels_;
  const std::span<const PageRows> rows_;
  std::vector<BinaryRows> binary_rows_;  // one a range, unless they lie in a dictionary
  // While decoding.
  Buffers data_;
  size_t next_ = 0;
  Scratch* scratch_ = nullptr;
  std::vector<uint16_t> def_;
};

std::vector<io::ByteRange> ArrayPage::StateRanges() const {
  std::vector<io::ByteRange> ranges;
  ranges.reserve(shape_.compressed.size() + 2);
  for (const CompressedBuffer& buffer : shape_.compressed) ranges.push_back(buffer.range);
  if (!shape_.is_dictionary()) return ranges;
  // What doesn't lie in its buffer is found out when the state is made.
  const auto add = [&](const arrow::Result<io::ByteRange>& range) {
    ranges.push_back(range.ok() ? *range : io::ByteRange{});
  };
  const uint64_t items = shape_.num_items;
  if (shape_.binary != nullptr) {
    add(shape_.binary->EndsRange(0, items, place_.where));
    ranges.push_back(shape_.binary->AllBytes());
  } else {
    add(shape_.fixed_items->Slice(0, items, place_.where));
    if (shape_.item_validity) add(shape_.item_validity->Slice(0, items, place_.where));
  }
  return ranges;
}

arrow::Status ArrayPage::ReadBinaryItems(Buffers buffers, ArrayState* state) const {
  const Where& where = place_.where;
  const BinaryPart& binary = *shape_.binary;
  BinaryRows* items = &state->items;
  ARROW_RETURN_NOT_OK(binary.EndsRange(0, shape_.num_items, where).status());
  ARROW_RETURN_NOT_OK(
      binary.ReadEnds(ToBytes(*buffers[0]), state->opened, 0, shape_.num_items, where, items));
  ARROW_ASSIGN_OR_RAISE(const io::ByteRange range, binary.BytesRange(*items, where));
  const Bytes all = ToBytes(*buffers[1]);
  const Bytes own = all.subspan(range.offset - binary.AllBytes().offset, range.length);
  state->item_bytes.assign(own.begin(), own.end());
  return binary.ReadBytes(state->item_bytes, state->opened, where, &state->item_memory, items);
}

arrow::Status ArrayPage::ReadFixedItems(Buffers buffers, ArrayState* state) const {
  const Where& where = place_.where;
  const uint64_t count = shape_.num_items;
  const FlatPart& part = *shape_.fixed_items;
  ARROW_RETURN_NOT_OK(part.Slice(0, count, where).status());
  ARROW_ASSIGN_OR_RAISE(const Bytes values,
                        part.Find(ToBytes(*buffers[0]), state->opened, 0, count, where));
  state->item_bytes.assign(values.begin(), values.end());
  state->items.block.SetFixed(state->item_bytes.data(), part.bits, count);
  state->items.is_null.assign(count, false);
  if (!shape_.item_validity) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(shape_.item_validity->Slice(0, count, where).status());
  ARROW_ASSIGN_OR_RAISE(
      const Bytes bits,
      shape_.item_validity->Find(ToBytes(*buffers[1]), state->opened, 0, count, where));
  for (uint64_t i = 0; i < count; ++i) state->items.is_null[i] = !BitAt(bits.data(), i);
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<const PageState>> ArrayPage::MakeState(Buffers buffers) const {
  const Where& where = place_.where;
  auto state = std::make_shared<ArrayState>();
  const size_t num_compressed = shape_.compressed.size();
  ARROW_RETURN_NOT_OK(state->opened.Open(shape_.compressed, buffers.first(num_compressed), where));
  const Buffers items = buffers.subspan(num_compressed);
  if (shape_.is_dictionary()) {
    ARROW_RETURN_NOT_OK(shape_.binary != nullptr ? ReadBinaryItems(items, state.get())
                                                 : ReadFixedItems(items, state.get()));
  }
  state->bytes = state->opened.bytes() + state->item_bytes.size() +
                 state->item_memory.taken_bytes() + state->items.offsets.capacity() * 8;
  return state;
}

arrow::Result<std::unique_ptr<PageRead>> ArrayPage::Start(
    const LeafColumn& leaf, std::span<const PageRows> rows,
    std::shared_ptr<const PageState> state) const {
  const bool variable = leaf.type.kind == LeafType::Kind::kVariable;
  std::vector<uint64_t> items;
  items.reserve(shape_.levels.size());
  for (const ListLevel& level : shape_.levels) items.push_back(level.items_per_value);
  const std::vector<uint64_t>& own_items = leaf.type.items_per_value;
  // Of null items the levels below aren't told.
  const bool same_levels = shape_.null_items
                               ? items.size() <= own_items.size() &&
                                     std::equal(items.begin(), items.end(), own_items.begin())
                               : items == own_items;
  const bool fits =
      shape_.all_null || (variable == (shape_.binary != nullptr) && (variable || same_levels));
  if (!fits || leaf.layers.size() != 1) {
    return place_.where.NotSupported("a page of this shape in a column of type ",
                                     leaf.type.type->ToString());
  }
  ARROW_ASSIGN_OR_RAISE(PageLevels levels, PageLevels::Make({proto::RepDefLayer::kNullableItem},
                                                            leaf.layers, place_.where));
  auto own = std::static_pointer_cast<const ArrayState>(std::move(state));
  if (own == nullptr) own = std::make_shared<ArrayState>();
  return std::make_unique<ArrayPageRead>(*this, std::move(own), leaf.is_dictionary,
                                         std::move(levels), rows);
}

arrow::Status ArrayPageRead::Plan(const FlatPart& part, uint64_t begin, uint64_t end,
                                  std::vector<io::ByteRange>* ranges) const {
  ARROW_ASSIGN_OR_RAISE(const io::ByteRange slice, part.Slice(begin, end, where_));
  ranges->push_back(slice);
  return arrow::Status::OK();
}

arrow::Result<Bytes> ArrayPageRead::Take(const FlatPart& part, uint64_t begin, uint64_t end) {
  return part.Find(ToBytes(*data_[next_++]), state_->opened, begin, end, where_);
}

arrow::Status ArrayPageRead::PlanLookups(std::vector<io::ByteRange>* ranges) {
  if (!shape_.binary || shape_.is_dictionary()) return arrow::Status::OK();
  for (const PageRows& range : rows_) {
    ARROW_ASSIGN_OR_RAISE(auto ends, shape_.binary->EndsRange(range.begin, range.end, where_));
    ranges->push_back(ends);
  }
  return arrow::Status::OK();
}

arrow::Status ArrayPageRead::PlanData(Buffers lookups, std::vector<io::ByteRange>* ranges) {
  for (size_t i = 0; i < rows_.size(); ++i) {
    const uint64_t begin = Aligned(rows_[i].begin);
    const uint64_t end = rows_[i].end;
    if (shape_.validity) ARROW_RETURN_NOT_OK(Plan(*shape_.validity, begin, end, ranges));
    for (const ListLevel& level : shape_.levels) {
      if (!level.validity) continue;
      const uint64_t items = level.items_per_value;
      ARROW_RETURN_NOT_OK(Plan(*level.validity, begin * items, end * items, ranges));
    }
    if (shape_.values) {
      const uint64_t items = shape_.levels.empty() ? 1 : shape_.levels.back().items_per_value;
      ARROW_RETURN_NOT_OK(Plan(*shape_.values, begin * items, end * items, ranges));
    } else if (shape_.binary) {
      binary_rows_.emplace_back();
      BinaryRows* rows = &binary_rows_.back();
      ARROW_RETURN_NOT_OK(shape_.binary->ReadEnds(ToBytes(*lookups[i]), state_->opened,
                                                  rows_[i].begin, end, where_, rows));
      ARROW_ASSIGN_OR_RAISE(auto bytes, shape_.binary->BytesRange(*rows, where_));
      ranges->push_back(bytes);
    }
  }
  return arrow::Status::OK();
}

arrow::Status ArrayPageRead::Decode(Buffers data, Scratch* scratch, ColumnSink* sink) {
  data_ = data;
  next_ = 0;
  scratch_ = scratch;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const uint64_t count = rows_[i].end - rows_[i].begin;
    def_.assign(count, 0);
    if (shape_.all_null) {
      def_.assign(count, 1);
      ARROW_RETURN_NOT_OK(AppendLevels(count, true, sink));
      ARROW_RETURN_NOT_OK(sink->values.AppendEmpty(count));
    } else if (shape_.is_dictionary()) {
      ARROW_RETURN_NOT_OK(DecodeDictionary(rows_[i], sink));
    } else if (shape_.binary) {
      scratch_->Reset();
      ARROW_RETURN_NOT_OK(DecodeBinary(i, sink));
    } else {
      ARROW_RETURN_NOT_OK(DecodeFixed(rows_[i], sink));
    }
  }
  return arrow::Status::OK();
}

arrow::Status ArrayPageRead::AppendLevels(uint64_t count, bool any_null, ColumnSink* sink) {
  return sink->levels.Append(levels_, nullptr, any_null ? def_.data() : nullptr, count, where_);
}

arrow::Status ArrayPageRead::DecodeFixed(const PageRows& range, ColumnSink* sink) {
  const uint64_t begin = Aligned(range.begin);
  const uint64_t skip = range.begin - begin;
  const uint64_t count = range.end - range.begin;
  if (shape_.validity) {
    ARROW_ASSIGN_OR_RAISE(const Bytes bits, Take(*shape_.validity, begin, range.end));
    for (uint64_t i = 0; i < count; ++i) def_[i] = !BitAt(bits.data(), skip + i);
  }
  std::vector<ValueBlock::ItemValidity> item_validity;
  uint64_t items = 1;
  for (const ListLevel& level : shape_.levels) {
    items = level.items_per_value;
    const uint8_t* bits = nullptr;
    if (level.validity) {
      ARROW_ASSIGN_OR_RAISE(const Bytes taken,
                            Take(*level.validity, begin * items, range.end * items));
      bits = taken.data();
    }
    item_validity.push_back({items, bits});
  }
  if (shape_.null_items) {
    ARROW_RETURN_NOT_OK(AppendLevels(count, shape_.validity.has_value(), sink));
    return AppendNullItems(item_validity, skip, count, sink);
  }
  ARROW_ASSIGN_OR_RAISE(const Bytes values, Take(*shape_.values, begin * items, range.end * items));
  ValueBlock block;
  block.SetFixed(values.data(), shape_.values->bits * items, range.end - begin);
  block.item_validity = std::move(item_validity);
  ARROW_RETURN_NOT_OK(AppendLevels(count, shape_.validity.has_value(), sink));
  return sink->values.Append(block, skip, count, where_);
}

// Values whose items of the last level are null; `levels` tells of the others.
arrow::Status ArrayPageRead::AppendNullItems(const std::vector<ValueBlock::ItemValidity>& levels,
                                             uint64_t skip, uint64_t count, ColumnSink* sink) {
  scratch_->Reset();
  for (size_t level = 0; level < levels.size(); ++level) {
    const uint64_t items = levels[level].items_per_value;
    const uint8_t* bits = levels[level].bits;
    uint64_t offset = skip * items;
    if (level + 1 == levels.size()) {
      const uint64_t bytes = BytesForBits(count * items);
      ARROW_ASSIGN_OR_RAISE(uint8_t* zeros, scratch_->Take(bytes, where_));
      std::memset(zeros, 0, bytes);
      bits = zeros;
      offset = 0;
    }
    ARROW_RETURN_NOT_OK(sink->values.AppendItemValidity(level, bits, offset, count));
  }
  for (size_t level = levels.size(); level < sink->values.leaf().items_per_value.size(); ++level) {
    ARROW_RETURN_NOT_OK(sink->values.AppendItemValidity(level, nullptr, 0, count));
  }
  return sink->values.AppendZeros(count);
}

arrow::Status ArrayPageRead::DecodeBinary(size_t number, ColumnSink* sink) {
  BinaryRows* rows = &binary_rows_[number];
  ARROW_RETURN_NOT_OK(
      shape_.binary->ReadBytes(ToBytes(*data_[next_++]), state_->opened, where_, scratch_, rows));
  const uint64_t count = rows->is_null.size();
  bool any_null = false;
  for (uint64_t i = 0; i < count; ++i) {
    def_[i] = rows->is_null[i];
    any_null |= rows->is_null[i];
  }
  ARROW_RETURN_NOT_OK(AppendLevels(count, any_null, sink));
  return sink->values.Append(rows->block, 0, count, where_);
}

// The index of a plain string column counts from 1 and 0 is null; that of a column of Arrow's
// dictionary type counts from 0 and a null is an item that is null.
arrow::Status ArrayPageRead::DecodeDictionary(const PageRows& range, ColumnSink* sink) {
  const BinaryRows& items = state_->items;
  const uint64_t begin = Aligned(range.begin);
  const uint64_t count = range.end - range.begin;
  const auto width = static_cast<uint32_t>(shape_.values->bits / 8);
  ARROW_ASSIGN_OR_RAISE(const Bytes indices, Take(*shape_.values, begin, range.end));
  bool any_null = false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t item = LoadUnsigned(indices.data() + (range.begin - begin + i) * width, width);
    bool is_null = false;
    if (!arrow_dictionary_) {
      is_null = item == 0;
      --item;
    }
    if (!is_null && item >= items.is_null.size()) {
      return where_.Corrupt("dictionary index ", item, " of ", items.is_null.size(), " items");
    }
    is_null = is_null || items.is_null[item];
    def_[i] = is_null;
    any_null |= is_null;
    ARROW_RETURN_NOT_OK(is_null ? sink->values.AppendEmpty(1)
                                : sink->values.Append(items.block, item, 1, where_));
  }
  return AppendLevels(count, any_null, sink);
}

// Reads the encodings of a leaf into a shape.
class ShapeMaking {
 public:
  explicit ShapeMaking(const PagePlace& place) : place_(place) {}

  arrow::Result<Shape> Make(const ArrayEncoding& encoding) {
    const ArrayEncoding* node = &encoding;
    if (node->kind == Kind::kNullable && node->nulls == Nulls::kAll) {
      shape_.all_null = true;
      return std::move(shape_);
    }
    ARROW_RETURN_NOT_OK(OpenNullable(&node, &shape_.validity));
    uint64_t items = 1;
    while (node->kind == Kind::kFixedSizeList) {
      if (node->dimension == 0 || !CheckedMultiply(items, node->dimension, &items) ||
          items > UINT32_MAX || node->has_validity) {
        return place_.where.NotSupported("encoding ", proto::Describe(encoding));
      }
      shape_.levels.push_back({items, std::nullopt});
      node = &node->children[0];
      shape_.null_items = node->kind == Kind::kNullable && node->nulls == Nulls::kAll;
      if (shape_.null_items) break;
      ARROW_RETURN_NOT_OK(OpenNullable(&node, &shape_.levels.back().validity));
    }
    if (!shape_.null_items) ARROW_RETURN_NOT_OK(AddValues(*node));
    // Nulls of strings lie in their offsets or indices; a bitmap or a list around them was never
    // seen, and their parts are read as if there were none.
    const bool by_offsets = shape_.binary != nullptr || shape_.is_dictionary();
    if (by_offsets && (shape_.validity || !shape_.levels.empty())) {
      return place_.where.NotSupported("encoding ", proto::Describe(encoding));
    }
    uint64_t all_items = 0;
    if (!CheckedMultiply(place_.num_rows, items, &all_items)) {
      return place_.where.Corrupt(place_.num_rows, " rows of ", items, " items in one page");
    }
    return std::move(shape_);
  }

 private:
  // Steps through a nullable node and keeps its bitmap.
  arrow::Status OpenNullable(const ArrayEncoding** node, std::optional<FlatPart>* validity) {
    if ((*node)->kind != Kind::kNullable) return arrow::Status::OK();
    if ((*node)->nulls == Nulls::kAll) {
      return place_.where.NotSupported("encoding ", proto::Describe(**node), " inside a list");
    }
    if ((*node)->nulls == Nulls::kSome) {
      ARROW_ASSIGN_OR_RAISE(*validity, FlatPart::Make((*node)->children[0], place_.buffers,
                                                      place_.where, &shape_.compressed));
      if ((*validity)->bits != 1) return place_.where.Corrupt("validity of several bits");
    }
    *node = &(*node)->children.back();
    return arrow::Status::OK();
  }

  arrow::Status AddValues(const ArrayEncoding& node) {
    const Where& where = place_.where;
    if (node.kind == Kind::kDictionary) {
      const ArrayEncoding& items = node.children[1];
      if (items.kind == Kind::kNullable && items.nulls == Nulls::kAll) {
        shape_.all_null = true;  // whatever the indices say
        return arrow::Status::OK();
      }
      ARROW_ASSIGN_OR_RAISE(shape_.values, FlatPart::Make(node.children[0], place_.buffers, where,
                                                          &shape_.compressed));
      const uint64_t bits = shape_.values->bits;
      if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
        return where.NotSupported("dictionary indices of ", bits, " bits");
      }
      shape_.num_items = node.num_items;
      return AddItems(items);
    }
    if (node.kind == Kind::kBinary || node.kind == Kind::kFsst) {
      return AddBinary(node);
    }
    ARROW_ASSIGN_OR_RAISE(shape_.values,
                          FlatPart::Make(node, place_.buffers, where, &shape_.compressed));
    return arrow::Status::OK();
  }

  arrow::Status AddItems(const ArrayEncoding& node) {
    const ArrayEncoding* inner = &node;
    if (node.kind == Kind::kNullable && node.nulls != Nulls::kAll) inner = &node.children.back();
    if (inner->kind != Kind::kFlat) return AddBinary(node);
    const ArrayEncoding* items = &node;
    ARROW_RETURN_NOT_OK(OpenNullable(&items, &shape_.item_validity));
    ARROW_ASSIGN_OR_RAISE(shape_.fixed_items,
                          FlatPart::Make(*items, place_.buffers, place_.where, &shape_.compressed));
    return arrow::Status::OK();
  }

  arrow::Status AddBinary(const ArrayEncoding& node) {
    ARROW_ASSIGN_OR_RAISE(BinaryPart part,
                          BinaryPart::Make(node, place_.buffers, place_.where, &shape_.compressed));
    shape_.binary = std::make_shared<BinaryPart>(std::move(part));
    return arrow::Status::OK();
  }

  const PagePlace& place_;
  Shape shape_;
};

}  // namespace

arrow::Result<std::unique_ptr<Page>> MakeArrayPage(const proto::ArrayEncoding& encoding,
                                                   PagePlace place) {
  ARROW_ASSIGN_OR_RAISE(Shape shape, ShapeMaking(place).Make(encoding));
  return std::make_unique<ArrayPage>(std::move(shape), std::move(place));
}

}  // namespace kinjo::format::file
