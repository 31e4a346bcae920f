#include "format/file/level_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "format/file/bitpacking.h"
#include "format/file/rle.h"

namespace kinjo::format::file {

namespace {

using Encoding = proto::CompressiveEncoding;
using Kind = Encoding::Kind;
using Piece = std::span<const uint16_t>;

constexpr uint64_t kRunsHeader = 8;

Encoding Flat(uint64_t bits) { return Encoding{.kind = Kind::kFlat, .bits = bits}; }

// The tail is read as raw words when the buffer has as many words as that takes, so it may only be
// packed where that is shorter.
bool TailIsRaw(uint64_t tail, uint32_t width) {
  return tail * sizeof(uint16_t) <= PackedBlockBytes(width);
}

uint64_t PackedBytes(uint64_t count, uint32_t width) {
  const uint64_t tail = count % kPackedBlock;
  const uint64_t full = count / kPackedBlock * PackedBlockBytes(width);
  return full + (TailIsRaw(tail, width) ? tail * sizeof(uint16_t) : PackedBlockBytes(width));
}

uint64_t CountRuns(Piece piece) {
  uint64_t runs = 0;
  for (size_t i = 0; i < piece.size();) {
    size_t end = i + 1;
    while (end < piece.size() && piece[end] == piece[i] && end - i < UINT8_MAX) ++end;
    ++runs;
    i = end;
  }
  return runs;
}

void AppendRaw(Piece piece, std::vector<uint8_t>* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(piece.data());
  out->insert(out->end(), bytes, bytes + piece.size_bytes());
}

void AppendPacked(Piece piece, uint32_t width, std::vector<uint8_t>* out) {
  const auto pack = [&](const uint16_t* block) {
    const size_t start = out->size();
    out->resize(start + PackedBlockBytes(width));
    PackBlock(reinterpret_cast<const uint8_t*>(block), 16, width, out->data() + start);
  };
  size_t first = 0;
  for (; first + kPackedBlock <= piece.size(); first += kPackedBlock) pack(piece.data() + first);
  const Piece tail = piece.subspan(first);
  if (TailIsRaw(tail.size(), width)) return AppendRaw(tail, out);
  uint16_t block[kPackedBlock] = {};
  std::copy(tail.begin(), tail.end(), block);
  pack(block);
}

void AppendRuns(Piece piece, std::vector<uint8_t>* out) {
  const OwnRuns runs = FindRuns(reinterpret_cast<const uint8_t*>(piece.data()), 2, piece.size());
  const uint64_t value_bytes = runs.values.size();
  const size_t start = out->size();
  out->resize(start + kRunsHeader);
  std::memcpy(out->data() + start, &value_bytes, kRunsHeader);
  out->insert(out->end(), runs.values.begin(), runs.values.end());
  out->insert(out->end(), runs.lengths.begin(), runs.lengths.end());
}

}  // namespace

EncodedLevels EncodeLevels(std::span<const uint16_t> levels, std::span<const uint64_t> firsts,
                           uint16_t highest, bool may_use_runs) {
  const auto width = static_cast<uint32_t>(std::bit_width(highest));
  const auto piece = [&](size_t i) { return levels.subspan(firsts[i], firsts[i + 1] - firsts[i]); };
  const size_t num_pieces = firsts.size() - 1;
  uint64_t packed_bytes = 0;
  uint64_t run_bytes = 0;
  for (size_t i = 0; i < num_pieces; ++i) {
    packed_bytes += PackedBytes(piece(i).size(), width);
    if (may_use_runs) run_bytes += kRunsHeader + 3 * CountRuns(piece(i));
  }
  const uint64_t flat_bytes = levels.size_bytes();
  EncodedLevels out;
  const bool runs = may_use_runs && run_bytes < std::min(packed_bytes, flat_bytes);
  const bool packed = !runs && packed_bytes < flat_bytes;
  if (runs) {
    out.encoding = Encoding{.kind = Kind::kRle};
    out.encoding.children = {Flat(16), Flat(8)};
  } else if (packed) {
    out.encoding = Encoding{.kind = Kind::kOutOfLineBitpacking, .bits = 16};
    out.encoding.children = {Flat(width)};
  } else {
    out.encoding = Flat(16);
  }
  for (size_t i = 0; i < num_pieces; ++i) {
    const size_t before = out.bytes.size();
    if (runs) {
      AppendRuns(piece(i), &out.bytes);
    } else if (packed) {
      AppendPacked(piece(i), width, &out.bytes);
    } else {
      AppendRaw(piece(i), &out.bytes);
    }
    out.sizes.push_back(out.bytes.size() - before);
  }
  return out;
}

}  // namespace kinjo::format::file
