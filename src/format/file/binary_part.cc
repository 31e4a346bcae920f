#include "format/file/binary_part.h"

#include <utility>

namespace kinjo::format::file {

using proto::ArrayEncoding;

arrow::Result<BinaryPart> BinaryPart::Make(const ArrayEncoding& encoding,
                                           const std::vector<io::ByteRange>& buffers,
                                           const Where& where,
                                           std::vector<CompressedBuffer>* compressed) {
  BinaryPart part;
  const ArrayEncoding* node = &encoding;
  if (node->kind == ArrayEncoding::Kind::kFsst) {
    auto decoder = std::make_shared<FsstDecoder>();
    if (!decoder->Load(node->symbol_table)) return where.Corrupt("bad FSST symbol table");
    part.fsst_ = std::move(decoder);
    node = &node->children[0];
  }
  if (node->kind != ArrayEncoding::Kind::kBinary) {
    return where.NotSupported("encoding ", proto::Describe(encoding));
  }
  ARROW_ASSIGN_OR_RAISE(part.ends_, FlatPart::Make(node->children[0], buffers, where, compressed));
  ARROW_ASSIGN_OR_RAISE(part.bytes_, FlatPart::Make(node->children[1], buffers, where, compressed));
  if (part.ends_.bits != 64 || part.bytes_.bits != 8) {
    return where.NotSupported("encoding ", proto::Describe(encoding));
  }
  part.null_adjustment_ = node->null_adjustment;
  return part;
}

arrow::Result<io::ByteRange> BinaryPart::EndsRange(uint64_t begin, uint64_t end,
                                                   const Where& where) const {
  return ends_.Slice(begin == 0 ? 0 : begin - 1, end, where);
}

arrow::Status BinaryPart::ReadEnds(Bytes ends, const OpenedBuffers& opened, uint64_t begin,
                                   uint64_t end, const Where& where, BinaryRows* rows) const {
  const uint64_t first = begin == 0 ? 0 : begin - 1;
  ARROW_ASSIGN_OR_RAISE(const Bytes numbers, ends_.Find(ends, opened, first, end, where));
  rows->offsets.reserve(end - begin + 1);
  rows->is_null.reserve(end - begin);
  uint64_t previous = 0;
  if (begin == 0) rows->offsets.push_back(0);
  for (uint64_t row = first; row < end; ++row) {
    uint64_t value = Load<uint64_t>(numbers.data() + (row - first) * 8);
    const bool is_null = null_adjustment_ != 0 && value >= null_adjustment_;
    if (is_null) value -= null_adjustment_;
    if (value < previous) {
      return where.Corrupt("the end offsets of rows ", begin, " to ", end, " don't rise");
    }
    previous = value;
    rows->offsets.push_back(value);
    if (row >= begin) rows->is_null.push_back(is_null);
  }
  return arrow::Status::OK();
}

arrow::Result<io::ByteRange> BinaryPart::BytesRange(const BinaryRows& rows,
                                                    const Where& where) const {
  return bytes_.Slice(rows.offsets.front(), rows.offsets.back(), where);
}

arrow::Status BinaryPart::ReadBytes(Bytes bytes, const OpenedBuffers& opened, const Where& where,
                                    Scratch* scratch, BinaryRows* rows) const {
  const uint64_t base = rows->offsets.front();
  ARROW_ASSIGN_OR_RAISE(bytes, bytes_.Find(bytes, opened, base, rows->offsets.back(), where));
  for (uint64_t& offset : rows->offsets) offset -= base;
  const uint64_t count = rows->is_null.size();
  const auto* offsets = reinterpret_cast<const uint8_t*>(rows->offsets.data());
  rows->block.SetVariable(bytes.data(), offsets, 8, count);
  if (fsst_ == nullptr) return arrow::Status::OK();
  return ExpandFsst(*fsst_, where, scratch, &rows->block);
}

}  // namespace kinjo::format::file
