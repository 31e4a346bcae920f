#include "format/file/fsst.h"

#include <cstring>

namespace kinjo::format::file {

bool FsstDecoder::Load(std::string_view table) {
  if (table.size() < 8) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(table.data());
  const auto header = file::Load<uint64_t>(bytes);
  const size_t count = header & 0xFF;
  if (header >> 32 != kFsstMagic || table.size() < 8 + count * 9) return false;
  compressed_ = ((header >> 24) & 1) != 0;
  lengths_.fill(0);
  for (size_t code = 0; code < count; ++code) {
    const uint8_t length = bytes[8 + count * 8 + code];
    if (length > 8) return false;
    symbols_[code] = file::Load<uint64_t>(bytes + 8 + code * 8);
    lengths_[code] = length;
  }
  return true;
}

bool FsstDecoder::Decode(Bytes value, uint8_t* out, size_t* length) const {
  if (!compressed_) {
    if (!value.empty()) std::memcpy(out, value.data(), value.size());
    *length = value.size();
    return true;
  }
  uint8_t* position = out;
  for (size_t i = 0; i < value.size(); ++i) {
    const uint8_t code = value[i];
    if (code == kFsstEscape) {
      if (++i == value.size()) return false;
      *position++ = value[i];
      continue;
    }
    if (lengths_[code] == 0) return false;
    std::memcpy(position, &symbols_[code], 8);
    position += lengths_[code];
  }
  *length = static_cast<size_t>(position - out);
  return true;
}

arrow::Status ExpandFsst(const FsstDecoder& decoder, const Where& where, Scratch* scratch,
                         ValueBlock* block) {
  const uint64_t count = block->num_values;
  const uint64_t total = block->offset(count) - block->offset(0);
  ARROW_ASSIGN_OR_RAISE(
      uint8_t* bytes,
      scratch->Take(total * FsstDecoder::kMaxExpansion + FsstDecoder::kSlack, where));
  ARROW_ASSIGN_OR_RAISE(uint8_t* offsets, scratch->Take((count + 1) * 8, where));
  uint64_t end = 0;
  uint64_t from = block->offset(0);
  std::memcpy(offsets, &end, 8);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t to = block->offset(i + 1);
    size_t length = 0;
    if (!decoder.Decode(Bytes(block->bytes + from, to - from), bytes + end, &length)) {
      return where.Corrupt("value ", i, " isn't a sequence of FSST codes");
    }
    end += length;
    from = to;
    std::memcpy(offsets + (i + 1) * 8, &end, 8);
  }
  block->SetVariable(bytes, offsets, 8, count);
  return arrow::Status::OK();
}

}  // namespace kinjo::format::file
