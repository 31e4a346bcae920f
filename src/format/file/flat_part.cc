#include "format/file/flat_part.h"

#include "format/file/block_compression.h"

namespace kinjo::format::file {

using proto::ArrayEncoding;

arrow::Result<FlatPart> FlatPart::Make(const ArrayEncoding& encoding,
                                       const std::vector<io::ByteRange>& buffers,
                                       const Where& where) {
  const ArrayEncoding* node = &encoding;
  if (node->kind == ArrayEncoding::Kind::kNullable && node->nulls == ArrayEncoding::Nulls::kNone) {
    node = &node->children[0];
  }
  const bool known = node->kind == ArrayEncoding::Kind::kFlat &&
                     node->buffer_type == ArrayEncoding::BufferType::kPage &&
                     node->bits_per_value != 0;
  if (!known) return where.NotSupported("encoding ", proto::Describe(encoding));
  if (node->buffer_index >= buffers.size()) {
    return where.Corrupt("buffer ", node->buffer_index, " of a page with ", buffers.size());
  }
  FlatPart part{.bits = node->bits_per_value, .buffer = buffers[node->buffer_index]};
  if (node->compression == "zstd") {
    part.scheme = proto::CompressionScheme::kZstd;
  } else if (node->compression == "lz4") {
    part.scheme = proto::CompressionScheme::kLz4;
  } else if (!node->compression.empty() && node->compression != "none") {
    return where.NotSupported("compression ", node->compression);
  }
  return part;
}

arrow::Result<io::ByteRange> FlatPart::Slice(uint64_t begin, uint64_t end,
                                             const Where& where) const {
  if (compressed()) return buffer;
  uint64_t end_bits = 0;
  if (!CheckedMultiply(end, bits, &end_bits) || BytesForBits(end_bits) > buffer.length) {
    return where.Corrupt("a buffer of ", buffer.length, " bytes can't hold ", end, " values of ",
                         bits, " bits");
  }
  const uint64_t first = begin * bits / 8;
  return io::ByteRange{buffer.offset + first, BytesForBits(end_bits) - first};
}

arrow::Result<Bytes> FlatPart::Open(Bytes slice, uint64_t begin, uint64_t end, const Where& where,
                                    Scratch* scratch) const {
  if (!compressed()) return slice;
  ARROW_ASSIGN_OR_RAISE(const Bytes opened, Decompress(scheme, slice, where, scratch));
  uint64_t end_bits = 0;
  if (!CheckedMultiply(end, bits, &end_bits) || BytesForBits(end_bits) > opened.size()) {
    return where.Corrupt("a buffer of ", opened.size(), " bytes can't hold ", end, " values of ",
                         bits, " bits");
  }
  const uint64_t first = begin * bits / 8;
  return opened.subspan(first, BytesForBits(end_bits) - first);
}

}  // namespace kinjo::format::file
