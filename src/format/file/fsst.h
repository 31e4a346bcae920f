// FSST: strings as codes of one byte, each standing for a symbol of one to eight bytes.
//
// A symbol table is a u64 header (bits 32-63 "FSST", bit 24 compression on, bits 0-7 the number of
// symbols), then the symbols (8 bytes each), then their lengths (1 byte each). Code 255 says that
// the next byte stands for itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "format/file/bytes.h"
#include "format/file/scratch.h"
#include "format/file/value_block.h"

namespace kinjo::format::file {

inline constexpr uint8_t kFsstEscape = 255;
inline constexpr uint64_t kFsstMagic = 0x46535354;
/// A table takes this much whatever it holds.
inline constexpr size_t kFsstTableBytes = 8 + 256 * 8 + 256;

class FsstDecoder {
 public:
  /// Bytes that a decoder may write past the end of a value: symbols are stored eight at a time.
  static constexpr size_t kSlack = 8;
  /// A code stands for at most this many bytes.
  static constexpr size_t kMaxExpansion = 8;

  /// False when the table isn't one.
  bool Load(std::string_view table);

  /// Decodes one value to `out`, which has room for kMaxExpansion * value.size() + kSlack bytes.
  /// Sets `length`; false when a code has no symbol or the value ends after an escape.
  bool Decode(Bytes value, uint8_t* out, size_t* length) const;

 private:
  std::array<uint64_t, 256> symbols_{};
  std::array<uint8_t, 256> lengths_{};
  bool compressed_ = false;
};

/// Decodes every value of a variable-width block; it then borrows `scratch`.
arrow::Status ExpandFsst(const FsstDecoder& decoder, const Where& where, Scratch* scratch,
                         ValueBlock* block);

}  // namespace kinjo::format::file
