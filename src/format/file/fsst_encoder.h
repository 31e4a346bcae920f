// FSST, written: a table of symbols that pays for one page's strings, and strings as its codes.
// fsst.h has the format and reads it.
//
// The table is found on a sample in a few rounds: each encodes the sample with the table so far and
// counts which symbols, and which pairs of neighbours, occurred; the candidates that would have
// saved the most bytes are the next table. The last round makes no more pairs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/value_block.h"

namespace kinjo::format::file {

class FsstEncoder {
 public:
  /// Finds a table for values of variable width. The same values give the same table.
  static FsstEncoder Train(const ValueBlock& block);

  /// The table as files store it.
  std::string Table() const;

  /// Appends the codes of one value, at most twice its bytes.
  void Encode(Bytes value, std::vector<uint8_t>* out) const;

 private:
  friend class FsstTraining;

  static constexpr uint32_t kMostSymbols = 255;
  static constexpr uint8_t kNoSymbol = kMostSymbols;  // and the code of the escape

  struct Symbol {
    uint64_t bytes = 0;  // the first in the lowest bits
    uint32_t length = 0;
  };

  // What a value goes on with: a code, or kNoSymbol for one byte that none stands for.
  struct Found {
    uint8_t code = kNoSymbol;
    uint8_t length = 0;
  };
  struct Long {
    uint64_t bytes = 0;
    uint64_t mask = 0;  // of the bytes that count; 0: no symbol
    Found found;
  };
  static constexpr size_t kLongPlaces = 1 << 11;

  FsstEncoder() { Use({}); }
  // Of symbols of three bytes and more at most one may begin with the same three.
  void Use(std::vector<Symbol> symbols);
  // The longest symbol that begins `word`, of which `left` bytes count and the others are 0.
  Found Find(uint64_t word, size_t left) const;
  static size_t LongPlace(uint64_t word);

  std::vector<Symbol> symbols_;      // by code
  std::array<Found, 256> single_{};  // by a byte
  std::vector<Found> short_;         // by two: their own symbol, else that of the first
  std::vector<Long> long_;           // a hash table of the others, by three
};

/// The values of a block as FSST codes.
struct FsstValues {
  std::string table;
  std::vector<uint8_t> bytes;
  std::vector<uint64_t> offsets;
  /// The codes as a block of `count` values; borrows.
  ValueBlock block() const;
};
FsstValues EncodeFsst(const ValueBlock& block);

}  // namespace kinjo::format::file
