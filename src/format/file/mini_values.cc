#include "format/file/mini_values.h"

#include <utility>

#include "format/file/bitpacking.h"
#include "format/file/block_compression.h"
#include "format/file/rle.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

bool IsWordWidth(uint64_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

// One buffer: num_values + 1 offsets from the start of the buffer, then the bytes.
arrow::Status DecodeVariable(Bytes buffer, uint32_t width, uint64_t num_values, const Where& where,
                             ValueBlock* block) {
  if (num_values >= buffer.size() / width) {
    return where.Corrupt("a buffer of ", buffer.size(), " bytes can't hold the offsets of ",
                         num_values, " values");
  }
  if (LoadUnsigned(buffer.data(), width) < (num_values + 1) * width ||
      !OffsetsAreSound(buffer.data(), width, num_values, buffer.size())) {
    return where.Corrupt("the offsets of ", num_values, " values don't rise within ", buffer.size(),
                         " bytes");
  }
  block->SetVariable(buffer.data(), buffer.data(), width, num_values);
  return arrow::Status::OK();
}

// Stream k holds byte k of every value.
arrow::Status JoinByteStreams(const Where& where, Scratch* scratch, ValueBlock* block) {
  const uint64_t width = block->bits_per_value / 8;
  const uint64_t count = block->num_values;
  if (block->variable || width == 0 || block->bits_per_value % 8 != 0) {
    return where.NotSupported("byte streams of values of ", block->bits_per_value, " bits");
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, scratch->Take(count * width, where));
  for (uint64_t stream = 0; stream < width; ++stream) {
    const uint8_t* from = block->values + stream * count;
    for (uint64_t i = 0; i < count; ++i) out[i * width + stream] = from[i];
  }
  block->SetFixed(out, width * 8, count);
  return arrow::Status::OK();
}

}  // namespace

arrow::Status DecodeFlat(Bytes buffer, uint64_t bits, uint64_t num_values, const Where& where,
                         ValueBlock* block) {
  uint64_t total_bits = 0;
  if (!CheckedMultiply(num_values, bits, &total_bits) || BytesForBits(total_bits) > buffer.size()) {
    return where.Corrupt("a buffer of ", buffer.size(), " bytes can't hold ", num_values,
                         " values of ", bits, " bits");
  }
  block->SetFixed(buffer.data(), bits, num_values);
  return arrow::Status::OK();
}

arrow::Status DecodeInlineBitpacking(Bytes buffer, uint32_t bits, uint64_t num_values,
                                     const Where& where, Scratch* scratch, ValueBlock* block) {
  const uint32_t word = bits / 8;
  if (num_values > kPackedBlock || buffer.size() < word) {
    return where.Corrupt("a bit-packed buffer of ", buffer.size(), " bytes can't hold ", num_values,
                         " values");
  }
  const uint64_t packed_bits = LoadUnsigned(buffer.data(), word);
  if (packed_bits > bits || buffer.size() - word < PackedBlockBytes(packed_bits)) {
    return where.Corrupt("a bit-packed buffer of ", buffer.size(), " bytes can't hold values of ",
                         packed_bits, " bits");
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, scratch->Take(kPackedBlock * word, where));
  UnpackBlock(buffer.data() + word, bits, static_cast<uint32_t>(packed_bits), out);
  block->SetFixed(out, bits, num_values);
  return arrow::Status::OK();
}

arrow::Result<MiniBlockCodec> MiniBlockCodec::Make(const Encoding& encoding, uint64_t num_buffers,
                                                   const Where& where) {
  MiniBlockCodec codec;
  ARROW_RETURN_NOT_OK(codec.AddNode(encoding, where));
  if (codec.buffers_needed_ != num_buffers) {
    return where.Corrupt("chunks of ", num_buffers, " value buffers, where ",
                         proto::Describe(encoding), " has ", codec.buffers_needed_);
  }
  return codec;
}

arrow::Status MiniBlockCodec::AddNode(const Encoding& encoding, const Where& where) {
  Node node{.kind = encoding.kind, .bits = static_cast<uint32_t>(encoding.bits)};
  const auto refuse = [&] {
    return where.NotSupported("mini-block value encoding ", proto::Describe(encoding));
  };
  switch (encoding.kind) {
    case Kind::kFlat:
      if (encoding.compressed || encoding.bits == 0 || encoding.bits > UINT32_MAX) return refuse();
      buffers_needed_ += 1;
      break;
    case Kind::kInlineBitpacking:
      if (encoding.compressed || !IsWordWidth(encoding.bits)) return refuse();
      buffers_needed_ += 1;
      break;
    case Kind::kVariable: {
      const Encoding& offsets = encoding.children[0];
      const bool known = offsets.kind == Kind::kFlat && (offsets.bits == 32 || offsets.bits == 64);
      if (encoding.compressed || !known) return refuse();
      node.bits = static_cast<uint32_t>(offsets.bits);
      buffers_needed_ += 1;
      break;
    }
    case Kind::kRle: {
      const Encoding& values = encoding.children[0];
      const Encoding& lengths = encoding.children[1];
      const bool known = values.kind == Kind::kFlat && lengths.kind == Kind::kFlat &&
                         values.bits != 0 && values.bits % 8 == 0 && values.bits <= 4096 &&
                         IsWordWidth(lengths.bits);
      if (!known) return refuse();
      node.bits = static_cast<uint32_t>(values.bits);
      node.length_bytes = static_cast<uint32_t>(lengths.bits / 8);
      buffers_needed_ += 2;
      break;
    }
    case Kind::kFsst: {
      auto decoder = std::make_shared<FsstDecoder>();
      if (!decoder->Load(encoding.symbol_table)) return where.Corrupt("bad FSST symbol table");
      node.fsst = std::move(decoder);
      break;
    }
    case Kind::kFixedSizeList:
      if (encoding.items_per_value == 0) return where.Corrupt("a fixed-size list of 0 items");
      node.items_per_value = encoding.items_per_value;
      node.has_validity = encoding.has_validity;
      buffers_needed_ += encoding.has_validity ? 1 : 0;
      break;
    case Kind::kGeneral:
      node.scheme = encoding.scheme;
      break;
    case Kind::kByteStreamSplit:
    case Kind::kPackedStruct:
      break;
    default:
      return refuse();
  }
  nodes_.push_back(std::move(node));
  const bool is_leaf = encoding.kind == Kind::kVariable || encoding.kind == Kind::kRle;
  if (is_leaf || encoding.children.empty()) return arrow::Status::OK();
  return AddNode(encoding.children[0], where);
}

arrow::Status MiniBlockCodec::Decode(std::span<const Bytes> buffers, uint64_t num_values,
                                     const Where& where, Scratch* scratch,
                                     ValueBlock* block) const {
  if (buffers.size() != buffers_needed_) {
    return where.Corrupt("a chunk of ", buffers.size(), " value buffers");
  }
  return DecodeNode(0, buffers, num_values, where, scratch, block);
}

arrow::Status MiniBlockCodec::DecodeNode(size_t number, std::span<const Bytes> buffers,
                                         uint64_t num_values, const Where& where, Scratch* scratch,
                                         ValueBlock* block) const {
  const Node& node = nodes_[number];
  switch (node.kind) {
    case Kind::kFlat:
      return DecodeFlat(buffers[0], node.bits, num_values, where, block);
    case Kind::kInlineBitpacking:
      return DecodeInlineBitpacking(buffers[0], node.bits, num_values, where, scratch, block);
    case Kind::kVariable:
      return DecodeVariable(buffers[0], node.bits / 8, num_values, where, block);
    case Kind::kRle: {
      const Runs runs{buffers[0], node.bits / 8, buffers[1], node.length_bytes};
      ARROW_ASSIGN_OR_RAISE(Bytes values, ExpandRuns(runs, num_values, false, where, scratch));
      block->SetFixed(values.data(), node.bits, num_values);
      return arrow::Status::OK();
    }
    case Kind::kGeneral: {
      std::vector<Bytes> opened(buffers.begin(), buffers.end());
      ARROW_ASSIGN_OR_RAISE(opened[0], Decompress(node.scheme, buffers[0], where, scratch));
      return DecodeNode(number + 1, opened, num_values, where, scratch, block);
    }
    case Kind::kFsst:
      ARROW_RETURN_NOT_OK(DecodeNode(number + 1, buffers, num_values, where, scratch, block));
      if (!block->variable) return where.Corrupt("FSST over values of fixed width");
      return ExpandFsst(*node.fsst, where, scratch, block);
    case Kind::kPackedStruct:  // a row is one value
      return DecodeNode(number + 1, buffers, num_values, where, scratch, block);
    case Kind::kByteStreamSplit:
      ARROW_RETURN_NOT_OK(DecodeNode(number + 1, buffers, num_values, where, scratch, block));
      return JoinByteStreams(where, scratch, block);
    default:
      return DecodeFixedSizeList(number, buffers, num_values, where, scratch, block);
  }
}

arrow::Status MiniBlockCodec::DecodeFixedSizeList(size_t number, std::span<const Bytes> buffers,
                                                  uint64_t num_values, const Where& where,
                                                  Scratch* scratch, ValueBlock* block) const {
  const Node& node = nodes_[number];
  const uint64_t dimension = node.items_per_value;
  uint64_t num_items = 0;
  if (!CheckedMultiply(num_values, dimension, &num_items)) {
    return where.Corrupt(num_values, " fixed-size lists of ", dimension, " items");
  }
  const uint8_t* bits = nullptr;
  if (node.has_validity) {
    if (buffers[0].size() < BytesForBits(num_items)) {
      return where.Corrupt("a validity buffer of ", buffers[0].size(), " bytes for ", num_items,
                           " items");
    }
    bits = buffers[0].data();
    buffers = buffers.subspan(1);
  }
  ARROW_RETURN_NOT_OK(DecodeNode(number + 1, buffers, num_items, where, scratch, block));
  uint64_t bits_per_value = 0;
  if (block->variable || !CheckedMultiply(block->bits_per_value, dimension, &bits_per_value)) {
    return where.NotSupported("a fixed-size list of values without a fixed width");
  }
  for (auto& level : block->item_validity) level.items_per_value *= dimension;
  block->item_validity.insert(block->item_validity.begin(), {dimension, bits});
  block->bits_per_value = bits_per_value;
  block->num_values = num_values;
  return arrow::Status::OK();
}

}  // namespace kinjo::format::file
