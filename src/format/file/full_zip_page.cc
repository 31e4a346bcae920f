// Full-zip pages: wide values, row after row, each with its levels in a control word in front.
// docs/format/data-file.md has the bytes. Made by MakeFullZipPage (page.h).
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "format/file/block_compression.h"
#include "format/file/fsst.h"
#include "format/file/page.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

// What was done to each value of variable width on its own.
struct ValueCoding {
  std::shared_ptr<const FsstDecoder> fsst;
  proto::CompressionScheme scheme = proto::CompressionScheme::kUnspecified;
};

// How the payload of an entry becomes a value.
struct Payload {
  // Fixed width: first the validity bytes of each fixed-size-list level, then the value.
  uint64_t payload_bytes = 0;
  uint64_t value_bytes = 0;
  std::vector<uint64_t> level_items;  // of every fixed-size-list level, outermost first
  std::vector<bool> level_has_validity;
  bool null_items = false;  // all of them: a value is nothing but its validity
  // Variable width.
  uint32_t length_bytes = 0;
  ValueCoding coding;
  // Of a packed struct with children of variable width, its children: a value, or a length and so
  // many bytes. Empty: a value is one length and its bytes.
  struct PackedChild {
    uint64_t value_bytes = 0;
    uint32_t length_bytes = 0;
    ValueCoding coding;
  };
  std::vector<PackedChild> packed;

  bool variable() const { return length_bytes != 0; }
  // Bytes of a packed row whose children are all of fixed width, else 0.
  uint64_t packed_row_bytes() const {
    uint64_t bytes = 0;
    for (const PackedChild& child : packed) {
      if (child.length_bytes != 0) return 0;
      bytes += child.value_bytes;
    }
    return bytes;
  }
  bool has_validity() const {
    return std::find(level_has_validity.begin(), level_has_validity.end(), true) !=
           level_has_validity.end();
  }
};

arrow::Result<Payload> MakeFixedPayload(const proto::FullZipLayout& layout, const Where& where) {
  Payload payload;
  const Encoding* node = &layout.value_compression;
  uint64_t items = 1;
  uint64_t validity_bytes = 0;
  // A row of a packed struct is one value.
  if (node->kind == Kind::kPackedStruct) node = &node->children[0];
  for (; node->kind == Kind::kFixedSizeList; node = &node->children[0]) {
    if (!CheckedMultiply(items, node->items_per_value, &items) || items > UINT32_MAX) {
      return where.Corrupt("fixed-size lists of ", items, " items");
    }
    payload.level_items.push_back(items);
    payload.level_has_validity.push_back(node->has_validity);
    if (node->has_validity) validity_bytes += BytesForBits(items);
  }
  if (node->kind == Kind::kConstant && !node->value && !payload.level_items.empty() &&
      payload.level_has_validity.back() && layout.bits_per_value == validity_bytes * 8) {
    payload.payload_bytes = validity_bytes;
    payload.null_items = true;
    return payload;
  }
  const bool flat = node->kind == Kind::kFlat && !node->compressed;
  uint64_t value_bits = 0;
  if (!flat || !CheckedMultiply(items, node->bits, &value_bits) || value_bits % 8 != 0 ||
      layout.bits_per_value % 8 != 0) {
    return where.NotSupported("full-zip values of ", layout.bits_per_value, " bits encoded as ",
                              proto::Describe(layout.value_compression));
  }
  payload.payload_bytes = layout.bits_per_value / 8;
  payload.value_bytes = value_bits / 8;
  if (payload.value_bytes == 0 || payload.value_bytes + validity_bytes != payload.payload_bytes) {
    return where.Corrupt("full-zip values of ", layout.bits_per_value, " bits encoded as ",
                         proto::Describe(layout.value_compression));
  }
  return payload;
}

// Steps through what is done to each value; `node` then is what is done to all of them.
arrow::Result<ValueCoding> OpenCoding(const Encoding** node, const Where& where) {
  ValueCoding coding;
  if ((*node)->kind == Kind::kFsst) {
    auto decoder = std::make_shared<FsstDecoder>();
    if (!decoder->Load((*node)->symbol_table)) return where.Corrupt("bad FSST symbol table");
    coding.fsst = std::move(decoder);
    *node = (*node)->children.data();
  } else if ((*node)->kind == Kind::kGeneral) {
    coding.scheme = (*node)->scheme;
    *node = (*node)->children.data();
  }
  return coding;
}

// The value that `stored` was coded of. It lies in `scratch`, or where it was.
arrow::Result<Bytes> DecodeValue(const ValueCoding& coding, Bytes stored, const Where& where,
                                 Scratch* scratch) {
  if (coding.fsst != nullptr) {
    ARROW_ASSIGN_OR_RAISE(
        uint8_t* out,
        scratch->Take(stored.size() * FsstDecoder::kMaxExpansion + FsstDecoder::kSlack, where));
    size_t length = 0;
    if (!coding.fsst->Decode(stored, out, &length)) {
      return where.Corrupt("a value isn't a sequence of FSST codes");
    }
    return Bytes(out, length);
  }
  if (coding.scheme == proto::CompressionScheme::kUnspecified) return stored;
  return Decompress(coding.scheme, stored, where, scratch);
}

arrow::Status AddPackedChildren(const Encoding& node, const Where& where, Payload* payload) {
  for (size_t i = 0; i < node.children.size(); ++i) {
    const Encoding& child = node.children[i];
    const Encoding::PackedWidth& width = node.packed_widths[i];
    const Encoding* flat = &child;  // a vector is a value
    while (flat->kind == Kind::kFixedSizeList && !flat->has_validity) flat = &flat->children[0];
    const bool fixed = flat->kind == Kind::kFlat && !flat->compressed && width.length_bits == 0 &&
                       width.value_bits != 0 && width.value_bits % 8 == 0 &&
                       width.value_bits <= UINT32_MAX;
    const Encoding* inner = &child;
    ARROW_ASSIGN_OR_RAISE(ValueCoding coding, OpenCoding(&inner, where));
    const bool variable = inner->kind == Kind::kVariable && !inner->compressed &&
                          (width.length_bits == 32 || width.length_bits == 64);
    if (!fixed && !variable) {
      return where.NotSupported("a packed struct with a child encoded as ", proto::Describe(child));
    }
    payload->packed.push_back({.value_bytes = width.value_bits / 8,
                               .length_bytes = static_cast<uint32_t>(width.length_bits / 8),
                               .coding = std::move(coding)});
  }
  return arrow::Status::OK();
}

arrow::Result<Payload> MakeVariablePayload(const proto::FullZipLayout& layout, const Where& where) {
  Payload payload;
  const Encoding* node = &layout.value_compression;
  ARROW_ASSIGN_OR_RAISE(payload.coding, OpenCoding(&node, where));
  const uint32_t bits = layout.bits_per_offset;
  if (node == &layout.value_compression && node->kind == Kind::kVariablePackedStruct &&
      !node->children.empty() && (bits == 32 || bits == 64)) {
    ARROW_RETURN_NOT_OK(AddPackedChildren(*node, where, &payload));
    payload.length_bytes = bits / 8;
    return payload;
  }
  if (node->kind != Kind::kVariable || node->compressed || (bits != 32 && bits != 64)) {
    return where.NotSupported("full-zip values with lengths of ", bits, " bits encoded as ",
                              proto::Describe(layout.value_compression));
  }
  payload.length_bytes = bits / 8;
  return payload;
}

class FullZipPage final : public Page {
 public:
  FullZipPage(proto::FullZipLayout layout, PagePlace place, Payload payload)
      : layout_(std::move(layout)), place_(std::move(place)), payload_(std::move(payload)) {
    const uint32_t bits = layout_.bits_rep + layout_.bits_def;
    control_bytes_ = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
    if (place_.buffers.size() > 1) {
      index_width_ = static_cast<uint32_t>(place_.buffers[1].length / (place_.num_rows + 1));
    }
  }

  arrow::Result<std::unique_ptr<PageRead>> Start(
      const LeafColumn& leaf, std::span<const PageRows> rows,
      std::shared_ptr<const PageState> state) const override;

  // Rows lie at multiples of one size: no repetition index is needed to find them.
  bool has_fixed_rows() const { return !payload_.variable() && layout_.bits_rep == 0; }
  uint32_t control_bytes() const { return control_bytes_; }
  uint32_t index_width() const { return index_width_; }
  const proto::FullZipLayout& layout() const { return layout_; }
  const PagePlace& place() const { return place_; }
  const Payload& payload() const { return payload_; }

 private:
  const proto::FullZipLayout layout_;
  const PagePlace place_;
  const Payload payload_;
  uint32_t control_bytes_ = 0;
  uint32_t index_width_ = 0;
};

class FullZipRead final : public PageRead {
 public:
  FullZipRead(const FullZipPage& page, PageLevels levels, std::span<const PageRows> rows)
      : page_(page), levels_(std::move(levels)), rows_(rows) {}

  arrow::Status PlanLookups(std::vector<io::ByteRange>* ranges) override;
  arrow::Status PlanData(Buffers lookups, std::vector<io::ByteRange>* ranges) override;
  arrow::Status Decode(Buffers data, Scratch* scratch, ColumnSink* sink) override;

 private:
  arrow::Status CopyRows(const std::shared_ptr<arrow::Buffer>& data, uint64_t count,
                         const Where& where, ColumnSink* sink);
  arrow::Status DecodeEntries(Bytes bytes, uint64_t num_rows, const Where& where, Scratch* scratch,
                              ColumnSink* sink);
  arrow::Result<size_t> AppendEntry(Bytes rest, uint32_t def, const Where& where, Scratch* scratch,
                                    ColumnSink* sink);
  arrow::Status AppendFixedValue(const uint8_t* payload, const Where& where, ColumnSink* sink);
  arrow::Result<size_t> AppendVariableValue(Bytes rest, const Where& where, Scratch* scratch,
                                            ColumnSink* sink);
  arrow::Status AppendPackedRow(Bytes stored, const Where& where, Scratch* scratch,
                                ColumnSink* sink);

  const FullZipPage& page_;
  const PageLevels levels_;
  const std::span<const PageRows> rows_;
  std::vector<uint64_t> data_offsets_;  // in the file, one a range
  std::vector<uint16_t> rep_;
  std::vector<uint16_t> def_;
};

arrow::Result<std::unique_ptr<PageRead>> FullZipPage::Start(
    const LeafColumn& leaf, std::span<const PageRows> rows,
    std::shared_ptr<const PageState> /*state*/) const {
  ARROW_ASSIGN_OR_RAISE(PageLevels levels,
                        PageLevels::Make(layout_.layers, leaf.layers, place_.where));
  if ((layout_.bits_rep > 0) != (levels.max_rep() > 0)) {
    return place_.where.Corrupt("the page's layers and its repetition levels don't agree");
  }
  const bool variable_leaf = leaf.type.kind == LeafType::Kind::kVariable;
  // Lance writes a packed struct with vectors as if it had children of variable width.
  const uint64_t value_bytes =
      payload_.packed.empty() ? payload_.value_bytes : payload_.packed_row_bytes();
  const bool widened_bool = leaf.type.bits_per_value == 1 && payload_.value_bytes == 1;
  const bool fits_fixed =
      value_bytes != 0 && (value_bytes * 8 == leaf.type.bits_per_value || widened_bool);
  const bool fits = variable_leaf ? payload_.variable() : fits_fixed || payload_.null_items;
  // Of null items the levels below aren't told.
  const std::vector<uint64_t>& items = payload_.level_items;
  const std::vector<uint64_t>& own_items = leaf.type.items_per_value;
  const bool same_levels = items.size() <= own_items.size() &&
                           std::equal(items.begin(), items.end(), own_items.begin()) &&
                           (payload_.null_items || items.empty() || items == own_items);
  if (!fits || !same_levels) {
    return place_.where.Corrupt("full-zip values encoded as ",
                                proto::Describe(layout_.value_compression), " in a column of type ",
                                leaf.type.type->ToString());
  }
  return std::make_unique<FullZipRead>(*this, std::move(levels), rows);
}

arrow::Status FullZipRead::PlanLookups(std::vector<io::ByteRange>* ranges) {
  if (page_.has_fixed_rows()) return arrow::Status::OK();
  const uint64_t width = page_.index_width();
  for (const PageRows& range : rows_) {
    ranges->push_back({page_.place().buffers[1].offset + range.begin * width,
                       (range.end - range.begin + 1) * width});
  }
  return arrow::Status::OK();
}

arrow::Status FullZipRead::PlanData(Buffers lookups, std::vector<io::ByteRange>* ranges) {
  const io::ByteRange& data = page_.place().buffers[0];
  const uint64_t entry_bytes = page_.control_bytes() + page_.payload().payload_bytes;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const uint64_t count = rows_[i].end - rows_[i].begin;
    uint64_t begin = rows_[i].begin * entry_bytes;
    uint64_t end = rows_[i].end * entry_bytes;
    if (!page_.has_fixed_rows()) {
      const uint32_t width = page_.index_width();
      begin = LoadUnsigned(lookups[i]->data(), width);
      end = LoadUnsigned(lookups[i]->data() + count * width, width);
      if (begin > end || end > data.length) {
        return page_.place()
            .where.At(page_.place().buffers[1].offset)
            .Corrupt("rows ", rows_[i].begin, " to ", rows_[i].end, " of the page lie at bytes ",
                     begin, " to ", end, " of ", data.length);
      }
    }
    data_offsets_.push_back(data.offset + begin);
    ranges->push_back({data.offset + begin, end - begin});
  }
  return arrow::Status::OK();
}

arrow::Status FullZipRead::Decode(Buffers data, Scratch* scratch, ColumnSink* sink) {
  const bool plain = page_.has_fixed_rows() && page_.control_bytes() == 0 &&
                     !page_.payload().has_validity() && sink->values.leaf().bits_per_value > 1;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Where where = page_.place().where.At(data_offsets_[i]);
    const uint64_t count = rows_[i].end - rows_[i].begin;
    if (plain) {
      ARROW_RETURN_NOT_OK(CopyRows(data[i], count, where, sink));
    } else {
      ARROW_RETURN_NOT_OK(DecodeEntries(ToBytes(*data[i]), count, where, scratch, sink));
    }
  }
  return arrow::Status::OK();
}

arrow::Status FullZipRead::CopyRows(const std::shared_ptr<arrow::Buffer>& data, uint64_t count,
                                    const Where& where, ColumnSink* sink) {
  ARROW_RETURN_NOT_OK(sink->levels.Append(levels_, nullptr, nullptr, count, where));
  // A read of one stretch needs no copy: what was read is the array, if it lies well.
  constexpr uintptr_t kAlignment = 8;
  const bool aligned = reinterpret_cast<uintptr_t>(data->data()) % kAlignment == 0;
  if (count == sink->expected_rows && sink->values.size() == 0 && aligned) {
    sink->values.Adopt(data, count);
    return arrow::Status::OK();
  }
  ValueBlock block;
  block.SetFixed(data->data(), page_.payload().value_bytes * 8, count);
  return sink->values.Append(block, 0, count, where);
}

arrow::Status FullZipRead::DecodeEntries(Bytes bytes, uint64_t num_rows, const Where& where,
                                         Scratch* scratch, ColumnSink* sink) {
  const uint32_t control_bytes = page_.control_bytes();
  const uint32_t bits_def = page_.layout().bits_def;
  const uint64_t def_mask = (uint64_t{1} << bits_def) - 1;
  const bool has_rep = levels_.max_rep() > 0;
  rep_.clear();
  def_.clear();
  uint64_t rows = 0;
  size_t position = 0;
  while (position < bytes.size()) {
    if (bytes.size() - position < control_bytes) return where.Corrupt("a cut control word");
    uint64_t word = 0;
    if (control_bytes != 0) word = LoadUnsigned(bytes.data() + position, control_bytes);
    position += control_bytes;
    const uint64_t def = word & def_mask;
    const uint64_t rep = word >> bits_def;
    if (def > levels_.max_def() || rep > levels_.max_rep()) {
      return where.Corrupt("control word ", word, " in a page with ", levels_.max_def(),
                           " definition levels and ", levels_.max_rep(), " repetition levels");
    }
    rows += rep == levels_.max_rep();
    if (has_rep) rep_.push_back(static_cast<uint16_t>(rep));
    def_.push_back(static_cast<uint16_t>(def));
    ARROW_ASSIGN_OR_RAISE(
        const size_t used,
        AppendEntry(bytes.subspan(position), static_cast<uint32_t>(def), where, scratch, sink));
    position += used;
  }
  if (rows != num_rows) {
    return where.Corrupt(bytes.size(), " bytes hold ", rows, " rows, where ", num_rows,
                         " are meant");
  }
  return sink->levels.Append(levels_, has_rep ? rep_.data() : nullptr,
                             bits_def == 0 ? nullptr : def_.data(), def_.size(), where);
}

// Adds the value of one entry, if it has a slot; returns the bytes of its payload.
arrow::Result<size_t> FullZipRead::AppendEntry(Bytes rest, uint32_t def, const Where& where,
                                               Scratch* scratch, ColumnSink* sink) {
  if (def > levels_.max_visible()) return 0;
  if (page_.payload().variable()) {
    if (def != 0) {
      ARROW_RETURN_NOT_OK(sink->values.AppendEmpty(1));
      return 0;
    }
    return AppendVariableValue(rest, where, scratch, sink);
  }
  const size_t payload_bytes = page_.payload().payload_bytes;
  if (rest.size() < payload_bytes) return where.Corrupt("a cut value");
  ARROW_RETURN_NOT_OK(AppendFixedValue(rest.data(), where, sink));
  return payload_bytes;
}

arrow::Status FullZipRead::AppendFixedValue(const uint8_t* position, const Where& where,
                                            ColumnSink* sink) {
  const Payload& payload = page_.payload();
  for (size_t level = 0; level < payload.level_items.size(); ++level) {
    const uint8_t* bits = nullptr;
    if (payload.level_has_validity[level]) {
      bits = position;
      position += BytesForBits(payload.level_items[level]);
    }
    ARROW_RETURN_NOT_OK(sink->values.AppendItemValidity(level, bits, 0, 1));
  }
  if (payload.null_items) {
    const size_t levels = sink->values.leaf().items_per_value.size();
    for (size_t level = payload.level_items.size(); level < levels; ++level) {
      ARROW_RETURN_NOT_OK(sink->values.AppendItemValidity(level, nullptr, 0, 1));
    }
    return sink->values.AppendZeros(1);
  }
  if (sink->values.leaf().bits_per_value % 8 != 0) {
    ValueBlock block;
    block.SetFixed(position, payload.value_bytes * 8, 1);
    return sink->values.Append(block, 0, 1, where);
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, sink->values.AppendFixed(1));
  std::memcpy(out, position, payload.value_bytes);
  return arrow::Status::OK();
}

arrow::Result<size_t> FullZipRead::AppendVariableValue(Bytes rest, const Where& where,
                                                       Scratch* scratch, ColumnSink* sink) {
  const Payload& payload = page_.payload();
  const uint32_t width = payload.length_bytes;
  if (rest.size() < width) return where.Corrupt("a cut length");
  const uint64_t size = LoadUnsigned(rest.data(), width);
  if (size > rest.size() - width) {
    return where.Corrupt("a value of ", size, " bytes where ", rest.size() - width, " are left");
  }
  Bytes value = rest.subspan(width, size);
  if (!payload.packed.empty()) {
    ARROW_RETURN_NOT_OK(AppendPackedRow(value, where, scratch, sink));
    return width + size;
  }
  scratch->Reset();
  ARROW_ASSIGN_OR_RAISE(value, DecodeValue(payload.coding, value, where, scratch));
  ARROW_RETURN_NOT_OK(sink->values.AppendVariable(value, where));
  return width + size;
}

// Adds a row as packed_struct.h wants it: lengths are of 8 bytes, whatever the page has.
arrow::Status FullZipRead::AppendPackedRow(Bytes stored, const Where& where, Scratch* scratch,
                                           ColumnSink* sink) {
  const std::vector<Payload::PackedChild>& children = page_.payload().packed;
  std::vector<Bytes> parts;
  size_t used = 0;
  uint64_t row_bytes = children.size() * sizeof(uint64_t);
  scratch->Reset();
  for (const Payload::PackedChild& child : children) {
    uint64_t size = child.value_bytes;
    if (child.length_bytes != 0) {
      if (stored.size() - used < child.length_bytes) return where.Corrupt("a cut length");
      size = LoadUnsigned(stored.data() + used, child.length_bytes);
      used += child.length_bytes;
    }
    if (size > stored.size() - used) {
      return where.Corrupt("a value of ", size, " bytes where ", stored.size() - used, " are left");
    }
    ARROW_ASSIGN_OR_RAISE(parts.emplace_back(),
                          DecodeValue(child.coding, stored.subspan(used, size), where, scratch));
    row_bytes += parts.back().size();
    used += size;
  }
  if (used != stored.size()) {
    return where.Corrupt("a row of a packed struct with ", stored.size() - used, " bytes more");
  }
  if (sink->values.leaf().kind == LeafType::Kind::kFixed) {
    ARROW_ASSIGN_OR_RAISE(uint8_t* out, sink->values.AppendFixed(1));
    for (const Bytes& part : parts) out = std::copy(part.begin(), part.end(), out);
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* row, scratch->Take(row_bytes, where));
  uint8_t* end = row;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (children[i].length_bytes != 0) {
      const uint64_t size = parts[i].size();
      std::memcpy(end, &size, sizeof(size));
      end += sizeof(size);
    }
    end = std::copy(parts[i].begin(), parts[i].end(), end);
  }
  return sink->values.AppendVariable(Bytes(row, static_cast<size_t>(end - row)), where);
}

}  // namespace

arrow::Result<std::unique_ptr<Page>> MakeFullZipPage(proto::FullZipLayout layout, PagePlace place) {
  const Where& where = place.where;
  if (place.buffers.empty() || layout.bits_rep > 16 || layout.bits_def > 16) {
    return where.Corrupt("a full-zip page of ", place.buffers.size(), " buffers with levels of ",
                         layout.bits_rep, " and ", layout.bits_def, " bits");
  }
  const bool variable = layout.bits_per_offset != 0;
  if (variable == (layout.bits_per_value != 0)) {
    return where.Corrupt("a full-zip page with values of ", layout.bits_per_value,
                         " bits and lengths of ", layout.bits_per_offset);
  }
  ARROW_ASSIGN_OR_RAISE(Payload payload, variable ? MakeVariablePayload(layout, where)
                                                  : MakeFixedPayload(layout, where));
  if (variable || layout.bits_rep > 0) {
    if (place.buffers.size() < 2 || place.num_rows == UINT64_MAX) {
      return where.Corrupt("a full-zip page without its repetition index");
    }
    const uint64_t entries = place.num_rows + 1;
    const uint64_t width = place.buffers[1].length / entries;
    const bool known = width == 1 || width == 2 || width == 4 || width == 8;
    if (!known || place.buffers[1].length % entries != 0) {
      return where.Corrupt("a repetition index of ", place.buffers[1].length, " bytes for ",
                           place.num_rows, " rows");
    }
  } else {
    const uint32_t bits = layout.bits_def;
    const uint64_t entry = (bits == 0 ? 0 : bits <= 8 ? 1 : 2) + payload.payload_bytes;
    uint64_t total = 0;
    if (!CheckedMultiply(place.num_rows, entry, &total) || total > place.buffers[0].length) {
      return where.Corrupt(place.num_rows, " rows of ", entry, " bytes in a buffer of ",
                           place.buffers[0].length);
    }
  }
  return std::make_unique<FullZipPage>(std::move(layout), std::move(place), std::move(payload));
}

}  // namespace kinjo::format::file
