#include "format/file/full_zip_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "format/file/block_compression.h"
#include "format/file/fsst.h"
#include "format/file/fsst_encoder.h"
#include "format/file/mini_values_encoder.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

// Values are compressed one by one once there is one of more bytes.
constexpr uint64_t kLongValue = 32 << 10;

uint32_t BitsFor(uint16_t highest) { return static_cast<uint32_t>(std::bit_width(highest)); }

uint32_t ControlBytes(uint32_t bits) { return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4; }

void AppendUnsigned(uint64_t value, uint32_t width, std::vector<uint8_t>* out) {
  if (width == 0) return;
  const size_t size = out->size();
  out->resize(size + width);
  std::memcpy(out->data() + size, &value, width);
}

class FullZipEncoding {
 public:
  FullZipEncoding(const PageContent& page, const WriteChoices& choices)
      : page_(page), choices_(choices), values_(page.values) {}

  arrow::Result<EncodedPage> Run();

 private:
  void DescribeFixed();
  arrow::Status DescribeVariable();
  arrow::Status CompressValues(proto::CompressionScheme scheme);
  void AppendFixed(uint64_t slot);
  void AppendVariable(uint64_t slot);
  void ZipEntries();
  std::vector<uint8_t> RowIndex() const;

  const PageContent& page_;
  const WriteChoices& choices_;
  ValueBlock values_;   // of the page, or what they became
  FsstValues changed_;  // owns what they became
  proto::FullZipLayout layout_;
  uint64_t value_bytes_ = 0;  // of a fixed-width value, without validity
  std::vector<uint8_t> data_;
  std::vector<uint64_t> row_starts_;
};

// The tree of a fixed-width value and the bits of its payload.
void FullZipEncoding::DescribeFixed() {
  const LeafType& type = page_.leaf->type;
  const uint64_t items = type.items_per_value.empty() ? 1 : type.items_per_value.back();
  const uint64_t bits = type.bits_per_value == 1 ? 8 : type.bits_per_value;
  Encoding tree{.kind = Kind::kFlat, .bits = bits / items};
  uint64_t total_bits = bits;
  for (size_t level = type.items_per_value.size(); level-- > 0;) {
    const uint64_t outer = level == 0 ? 1 : type.items_per_value[level - 1];
    Encoding list{.kind = Kind::kFixedSizeList,
                  .items_per_value = type.items_per_value[level] / outer};
    list.has_validity = page_.values.item_validity[level].bits != nullptr;
    if (list.has_validity) total_bits += 8 * BytesForBits(type.items_per_value[level]);
    list.children.push_back(std::move(tree));
    tree = std::move(list);
  }
  layout_.value_compression = std::move(tree);
  layout_.bits_per_value = static_cast<uint32_t>(total_bits);
  value_bytes_ = bits / 8;
}

// Strings become codes of FSST, long values are compressed one by one, where either helps.
arrow::Status FullZipEncoding::DescribeVariable() {
  using Compression = WriteChoices::Compression;
  const uint32_t bits = page_.leaf->type.large_offsets ? 64 : 32;
  Encoding tree{.kind = Kind::kVariable};
  tree.children.push_back(Encoding{.kind = Kind::kFlat, .bits = bits});
  layout_.bits_per_offset = bits;
  const uint64_t bytes = values_.offset(values_.num_values) - values_.offset(0);
  const bool any = choices_.compression == Compression::kAny;
  const auto id = page_.leaf->type.type->id();
  const bool text = id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING;
  const bool fsst = choices_.compression == Compression::kFsst ||
                    (any && text && WorthFsst(page_, bytes) && page_.longest_value <= kLongValue);
  // Lance decompresses nulls too, which have no bytes, and finds no LZ4 there.
  const bool lz4_of_nulls = choices_.scheme == proto::CompressionScheme::kLz4 &&
                            page_.num_valid < page_.values.num_values;
  const bool general = (choices_.compression == Compression::kGeneral && !lz4_of_nulls) ||
                       (any && page_.longest_value > kLongValue);
  if (fsst) {
    FsstValues codes = EncodeFsst(values_);
    if (codes.bytes.size() + kFsstTableBytes < bytes) {
      changed_ = std::move(codes);
      Encoding outer{.kind = Kind::kFsst};
      outer.symbol_table = changed_.table;
      outer.children.push_back(std::move(tree));
      tree = std::move(outer);
      values_ = changed_.block();
    }
  } else if (general) {
    const auto scheme = any ? proto::CompressionScheme::kZstd : choices_.scheme;
    ARROW_RETURN_NOT_OK(CompressValues(scheme));
    if (changed_.bytes.size() < bytes) {
      Encoding outer{.kind = Kind::kGeneral};
      outer.scheme = scheme;
      outer.children.push_back(std::move(tree));
      tree = std::move(outer);
      values_ = changed_.block();
    }
  }
  layout_.value_compression = std::move(tree);
  return arrow::Status::OK();
}

arrow::Status FullZipEncoding::CompressValues(proto::CompressionScheme scheme) {
  changed_.offsets.push_back(0);
  for (uint64_t i = 0; i < values_.num_values; ++i) {
    const uint64_t begin = values_.offset(i);
    const Bytes value(values_.bytes + begin, values_.offset(i + 1) - begin);
    ARROW_ASSIGN_OR_RAISE(const auto shrunk, Compress(scheme, choices_.level, value));
    changed_.bytes.insert(changed_.bytes.end(), shrunk.begin(), shrunk.end());
    changed_.offsets.push_back(changed_.bytes.size());
  }
  return arrow::Status::OK();
}

void FullZipEncoding::AppendFixed(uint64_t slot) {
  for (const auto& validity : page_.values.item_validity) {
    if (validity.bits == nullptr) continue;
    const uint64_t items = validity.items_per_value;
    const size_t start = data_.size();
    data_.resize(start + BytesForBits(items));
    for (uint64_t i = 0; i < items; ++i) {
      if (BitAt(validity.bits, slot * items + i)) data_[start + i / 8] |= 1 << (i % 8);
    }
  }
  if (page_.values.bits_per_value == 1) {
    data_.push_back(BitAt(page_.values.values, slot));
    return;
  }
  const uint8_t* value = page_.values.values + slot * value_bytes_;
  data_.insert(data_.end(), value, value + value_bytes_);
}

void FullZipEncoding::AppendVariable(uint64_t slot) {
  const uint64_t begin = values_.offset(slot);
  const uint64_t size = values_.offset(slot + 1) - begin;
  AppendUnsigned(size, layout_.bits_per_offset / 8, &data_);
  const uint8_t* value = values_.bytes + begin;
  data_.insert(data_.end(), value, value + size);
}

void FullZipEncoding::ZipEntries() {
  const OwnLevels& levels = page_.levels;
  const uint32_t control_bytes = ControlBytes(layout_.bits_rep + layout_.bits_def);
  const bool variable = page_.values.variable;
  uint64_t slot = 0;
  for (uint64_t entry = 0; entry < levels.num_entries; ++entry) {
    if (levels.BeginsRow(entry)) row_starts_.push_back(data_.size());
    const uint64_t rep = levels.rep.empty() ? 0 : levels.rep[entry];
    const uint64_t def = levels.def.empty() ? 0 : levels.def[entry];
    AppendUnsigned(rep << layout_.bits_def | def, control_bytes, &data_);
    if (!levels.IsVisible(entry)) continue;
    if (!variable) {
      AppendFixed(slot);
    } else if (def == 0) {
      AppendVariable(slot);
    }
    ++slot;
  }
  row_starts_.push_back(data_.size());
}

std::vector<uint8_t> FullZipEncoding::RowIndex() const {
  const uint64_t end = row_starts_.back();
  const uint32_t width = end <= UINT8_MAX ? 1 : end <= UINT16_MAX ? 2 : end <= UINT32_MAX ? 4 : 8;
  std::vector<uint8_t> index;
  index.reserve(row_starts_.size() * width);
  for (const uint64_t start : row_starts_) AppendUnsigned(start, width, &index);
  return index;
}

arrow::Result<EncodedPage> FullZipEncoding::Run() {
  const OwnLevels& levels = page_.levels;
  layout_.bits_rep = BitsFor(levels.max_rep);
  layout_.bits_def = BitsFor(levels.max_def);
  layout_.layers = levels.layers;
  if (levels.num_entries > UINT32_MAX) {
    return base::MakeError(base::ErrorCode::kCapacity, "a page of more than 2^32 values");
  }
  layout_.num_items = static_cast<uint32_t>(levels.num_entries);
  layout_.num_visible_items = static_cast<uint32_t>(page_.values.num_values);
  if (page_.values.variable) {
    ARROW_RETURN_NOT_OK(DescribeVariable());
  } else {
    DescribeFixed();
  }
  EncodedPage encoded;
  const bool plain = !page_.values.variable && layout_.bits_rep + layout_.bits_def == 0 &&
                     layout_.bits_per_value == page_.values.bits_per_value;
  if (plain) {
    // The values as they lie are the page.
    const auto size = static_cast<int64_t>(page_.values.num_values * value_bytes_);
    const arrow::ArrayData* data = page_.array.get();
    while (!data->child_data.empty()) data = data->child_data[0].get();
    encoded.buffers.push_back(arrow::SliceBuffer(data->buffers[1], 0, size));
  } else {
    ZipEntries();
    encoded.buffers.push_back(BufferOf(std::move(data_)));
    if (page_.values.variable || layout_.bits_rep > 0) {
      encoded.buffers.push_back(BufferOf(RowIndex()));
    }
  }
  encoded.layout.kind = proto::PageLayout::Kind::kFullZip;
  encoded.layout.full_zip = std::move(layout_);
  return encoded;
}

}  // namespace

arrow::Result<EncodedPage> EncodeFullZip(const PageContent& page, const WriteChoices& choices) {
  return FullZipEncoding(page, choices).Run();
}

}  // namespace kinjo::format::file
