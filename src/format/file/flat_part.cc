#include "format/file/flat_part.h"

#include "format/file/block_compression.h"

namespace kinjo::format::file {

using proto::ArrayEncoding;

arrow::Status OpenedBuffers::Open(const std::vector<CompressedBuffer>& buffers, Buffers stored,
                                  const Where& where) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    ARROW_ASSIGN_OR_RAISE(const Bytes opened,
                          Decompress(buffers[i].scheme, ToBytes(*stored[i]),
                                     where.At(buffers[i].range.offset), &memory_));
    buffers_.push_back(opened);
  }
  return arrow::Status::OK();
}

namespace {

// Bits of a value of fixed width; 0 of any other.
uint64_t FixedBits(const ArrayEncoding& encoding) {
  switch (encoding.kind) {
    case ArrayEncoding::Kind::kFlat:
      return encoding.bits_per_value;
    case ArrayEncoding::Kind::kNullable:
      return encoding.nulls == ArrayEncoding::Nulls::kNone ? FixedBits(encoding.children[0]) : 0;
    case ArrayEncoding::Kind::kFixedSizeList: {
      uint64_t bits = FixedBits(encoding.children[0]);
      const bool fits = CheckedMultiply(bits, encoding.dimension, &bits) && bits <= UINT32_MAX;
      return fits && !encoding.has_validity ? bits : 0;
    }
    default:
      return 0;
  }
}

// Bits of a row of a packed struct; 0 when a child isn't of fixed width.
uint64_t PackedBits(const ArrayEncoding& encoding) {
  uint64_t total = 0;
  for (const ArrayEncoding& child : encoding.children) {
    const uint64_t bits = FixedBits(child);
    if (bits == 0 || bits > UINT32_MAX) return 0;
    total += bits;
  }
  return total > UINT32_MAX ? 0 : total;
}

}  // namespace

arrow::Result<FlatPart> FlatPart::Make(const ArrayEncoding& encoding,
                                       const std::vector<io::ByteRange>& buffers,
                                       const Where& where,
                                       std::vector<CompressedBuffer>* compressed) {
  const ArrayEncoding* node = &encoding;
  if (node->kind == ArrayEncoding::Kind::kNullable && node->nulls == ArrayEncoding::Nulls::kNone) {
    node = &node->children[0];
  }
  const bool packed = node->kind == ArrayEncoding::Kind::kPackedStruct;
  const uint64_t bits = packed ? PackedBits(*node) : node->bits_per_value;
  const bool known = (packed || node->kind == ArrayEncoding::Kind::kFlat) &&
                     node->buffer_type == ArrayEncoding::BufferType::kPage && bits != 0;
  if (!known) return where.NotSupported("encoding ", proto::Describe(encoding));
  if (node->buffer_index >= buffers.size()) {
    return where.Corrupt("buffer ", node->buffer_index, " of a page with ", buffers.size());
  }
  FlatPart part{.bits = bits, .buffer = buffers[node->buffer_index], .compressed = {}};
  if (node->compression.empty() || node->compression == "none") return part;
  if (node->compression != "zstd" && node->compression != "lz4") {
    return where.NotSupported("compression ", node->compression);
  }
  const bool zstd = node->compression == "zstd";
  part.compressed = compressed->size();
  compressed->push_back(
      {part.buffer, zstd ? proto::CompressionScheme::kZstd : proto::CompressionScheme::kLz4});
  return part;
}

arrow::Result<io::ByteRange> FlatPart::Slice(uint64_t begin, uint64_t end,
                                             const Where& where) const {
  if (compressed) return io::ByteRange{buffer.offset, 0};
  uint64_t end_bits = 0;
  if (!CheckedMultiply(end, bits, &end_bits) || BytesForBits(end_bits) > buffer.length) {
    return where.Corrupt("a buffer of ", buffer.length, " bytes can't hold ", end, " values of ",
                         bits, " bits");
  }
  const uint64_t first = begin * bits / 8;
  return io::ByteRange{buffer.offset + first, BytesForBits(end_bits) - first};
}

arrow::Result<Bytes> FlatPart::Find(Bytes slice, const OpenedBuffers& opened, uint64_t begin,
                                    uint64_t end, const Where& where) const {
  if (!compressed) return slice;
  const Bytes all = opened.buffer(*compressed);
  uint64_t end_bits = 0;
  if (!CheckedMultiply(end, bits, &end_bits) || BytesForBits(end_bits) > all.size()) {
    return where.Corrupt("a buffer of ", all.size(), " bytes can't hold ", end, " values of ", bits,
                         " bits");
  }
  const uint64_t first = begin * bits / 8;
  return all.subspan(first, BytesForBits(end_bits) - first);
}

}  // namespace kinjo::format::file
