#include "format/file/block_values.h"

#include "format/file/bitpacking.h"
#include "format/file/block_compression.h"
#include "format/file/mini_values.h"
#include "format/file/rle.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;

bool IsWordWidth(uint64_t bits) { return bits == 8 || bits == 16 || bits == 32 || bits == 64; }

// Whole packed blocks of 1024, then the tail: another packed block, or raw words. It is raw exactly
// when the buffer has as many words as that reading needs.
arrow::Status DecodeOutOfLine(const Encoding& encoding, Bytes buffer, uint64_t num_values,
                              const Where& where, Scratch* scratch, ValueBlock* block) {
  const Encoding& inner = encoding.children[0];
  const uint64_t bits = encoding.bits;
  if (!IsWordWidth(bits) || inner.kind != Kind::kFlat || inner.bits > bits) {
    return where.NotSupported("block encoding ", proto::Describe(encoding));
  }
  const uint64_t word = bits / 8;
  const auto packed_bits = static_cast<uint32_t>(inner.bits);
  const uint64_t full_blocks = num_values / kPackedBlock;
  const uint64_t tail = num_values % kPackedBlock;
  const uint64_t block_bytes = PackedBlockBytes(packed_bits);
  const uint64_t words = buffer.size() / word;
  // A width of 0 bits stores nothing, so only the cap on levels and items bounds such a count.
  constexpr uint64_t kMaxUnstored = 1 << 20;
  if (packed_bits == 0 ? num_values > kMaxUnstored : full_blocks > buffer.size() / block_bytes) {
    return where.Corrupt("a bit-packed buffer of ", buffer.size(), " bytes can't hold ", num_values,
                         " values");
  }
  const bool raw_tail = words == full_blocks * block_bytes / word + tail;
  const uint64_t needed = full_blocks * block_bytes + (tail == 0  ? 0
                                                       : raw_tail ? tail * word
                                                                  : block_bytes);
  if (needed > buffer.size()) {
    return where.Corrupt("a bit-packed buffer of ", buffer.size(), " bytes can't hold ", num_values,
                         " values of ", packed_bits, " bits");
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* out,
                        scratch->Take((full_blocks + 1) * kPackedBlock * word, where));
  for (uint64_t i = 0; i < full_blocks; ++i) {
    UnpackBlock(buffer.data() + i * block_bytes, static_cast<uint32_t>(bits), packed_bits,
                out + i * kPackedBlock * word);
  }
  if (tail != 0) {
    const uint8_t* from = buffer.data() + full_blocks * block_bytes;
    uint8_t* to = out + full_blocks * kPackedBlock * word;
    if (raw_tail) {
      std::memcpy(to, from, tail * word);
    } else {
      UnpackBlock(from, static_cast<uint32_t>(bits), packed_bits, to);
    }
  }
  block->SetFixed(out, bits, num_values);
  return arrow::Status::OK();
}

// Bits of an offset, position of the bytes, num_values + 1 offsets from 0, the bytes; all numbers
// have the width of an offset.
arrow::Status DecodeVariableBlock(const Encoding& encoding, Bytes buffer, uint64_t num_values,
                                  const Where& where, ValueBlock* block) {
  const uint64_t bits = encoding.children[0].bits;
  if (encoding.compressed || (bits != 32 && bits != 64)) {
    return where.NotSupported("block encoding ", proto::Describe(encoding));
  }
  const auto width = static_cast<uint32_t>(bits / 8);
  const uint64_t numbers = buffer.size() / width;
  if (numbers < 3 || num_values > numbers - 3) {
    return where.Corrupt("a buffer of ", buffer.size(), " bytes can't hold ", num_values,
                         " offsets");
  }
  const uint64_t position = LoadUnsigned(buffer.data() + width, width);
  const uint8_t* offsets = buffer.data() + 2 * width;
  if (LoadUnsigned(buffer.data(), width) != bits || position > buffer.size() ||
      position < (num_values + 3) * width ||
      !OffsetsAreSound(offsets, width, num_values, buffer.size() - position)) {
    return where.Corrupt("the offsets of ", num_values, " values don't fit a buffer of ",
                         buffer.size(), " bytes");
  }
  block->SetVariable(buffer.data() + position, offsets, width, num_values);
  return arrow::Status::OK();
}

// A u64 length of the values, the values, the run lengths.
arrow::Status DecodeRleBlock(const Encoding& encoding, Bytes buffer, uint64_t num_values,
                             bool wrapped, const Where& where, Scratch* scratch,
                             ValueBlock* block) {
  const Encoding& values = encoding.children[0];
  const Encoding& lengths = encoding.children[1];
  if (values.kind != Kind::kFlat || lengths.kind != Kind::kFlat || !IsWordWidth(values.bits) ||
      !IsWordWidth(lengths.bits)) {
    return where.NotSupported("block encoding ", proto::Describe(encoding));
  }
  if (buffer.size() < 8) return where.Corrupt("a run-length buffer of ", buffer.size(), " bytes");
  const auto split = Load<uint64_t>(buffer.data());
  buffer = buffer.subspan(8);
  if (split > buffer.size()) {
    return where.Corrupt("run values of ", split, " bytes in a buffer of ", buffer.size());
  }
  const Runs runs{buffer.first(split), static_cast<uint32_t>(values.bits / 8),
                  buffer.subspan(split), static_cast<uint32_t>(lengths.bits / 8)};
  ARROW_ASSIGN_OR_RAISE(Bytes out, ExpandRuns(runs, num_values, wrapped, where, scratch));
  block->SetFixed(out.data(), values.bits, num_values);
  return arrow::Status::OK();
}

}  // namespace

arrow::Status DecodeBlock(const Encoding& encoding, Bytes buffer, uint64_t num_values,
                          bool wrapped_runs, const Where& where, Scratch* scratch,
                          ValueBlock* block) {
  switch (encoding.kind) {
    case Kind::kFlat:
      if (encoding.compressed || encoding.bits == 0) break;
      return DecodeFlat(buffer, encoding.bits, num_values, where, block);
    case Kind::kInlineBitpacking:
      if (encoding.compressed || !IsWordWidth(encoding.bits)) break;
      return DecodeInlineBitpacking(buffer, static_cast<uint32_t>(encoding.bits), num_values, where,
                                    scratch, block);
    case Kind::kOutOfLineBitpacking:
      return DecodeOutOfLine(encoding, buffer, num_values, where, scratch, block);
    case Kind::kVariable:
      return DecodeVariableBlock(encoding, buffer, num_values, where, block);
    case Kind::kRle:
      return DecodeRleBlock(encoding, buffer, num_values, wrapped_runs, where, scratch, block);
    case Kind::kGeneral: {
      ARROW_ASSIGN_OR_RAISE(Bytes opened, Decompress(encoding.scheme, buffer, where, scratch));
      return DecodeBlock(encoding.children[0], opened, num_values, wrapped_runs, where, scratch,
                         block);
    }
    default:
      break;
  }
  return where.NotSupported("block encoding ", proto::Describe(encoding));
}

}  // namespace kinjo::format::file
