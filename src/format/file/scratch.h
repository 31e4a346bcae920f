// Memory for what is decoded on the way to the output: taken piece by piece, given back all at
// once, kept between chunks. How much is taken follows what a file claims, so there is a bound, and
// what the system can't give is an error like any other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "format/file/bytes.h"

namespace kinjo::format::file {

/// Not thread-safe: one per read.
class Scratch {
 public:
  /// The most that is given between two calls of Reset.
  static constexpr uint64_t kMostBytes = uint64_t{4} << 30;

  /// At least `size` bytes, not initialised, valid until Reset(); 64 more may be touched. Beyond
  /// the bound, and when memory is out, `capacity`.
  arrow::Result<uint8_t*> Take(uint64_t size, const Where& where) {
    if (size > kMostBytes - taken_) {
      return where.Capacity("decodes to more than ", kMostBytes, " bytes at once");
    }
    if (used_ == pieces_.size()) pieces_.emplace_back();
    Piece& piece = pieces_[used_];
    if (piece.memory == nullptr || piece.capacity < size) {
      piece.memory.reset();
      piece.memory.reset(new (std::nothrow) uint8_t[size + 64]);
      piece.capacity = piece.memory == nullptr ? 0 : size;
      if (piece.memory == nullptr) return where.Capacity("no memory for ", size, " decoded bytes");
    }
    ++used_;
    taken_ += size;
    return piece.memory.get();
  }

  /// Everything taken so far may be reused.
  void Reset() {
    used_ = 0;
    taken_ = 0;
  }

  /// Bytes taken since the last Reset.
  uint64_t taken_bytes() const { return taken_; }

 private:
  struct Piece {
    std::unique_ptr<uint8_t[]> memory;
    uint64_t capacity = 0;
  };
  std::vector<Piece> pieces_;
  size_t used_ = 0;
  uint64_t taken_ = 0;
};

}  // namespace kinjo::format::file
