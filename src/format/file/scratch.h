// Memory for what is decoded on the way to the output: taken piece by piece, given back all at
// once, kept between chunks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace kinjo::format::file {

/// Not thread-safe: one per read.
class Scratch {
 public:
  /// At least `size` bytes, not initialised, valid until Reset(); 64 more may be touched.
  uint8_t* Take(size_t size) {
    if (used_ == pieces_.size()) pieces_.emplace_back();
    Piece& piece = pieces_[used_++];
    if (piece.capacity < size) {
      piece.memory.reset();
      piece.memory = std::make_unique_for_overwrite<uint8_t[]>(size + 64);
      piece.capacity = size;
    }
    return piece.memory.get();
  }

  /// Everything taken so far may be reused.
  void Reset() { used_ = 0; }

 private:
  struct Piece {
    std::unique_ptr<uint8_t[]> memory;
    size_t capacity = 0;
  };
  std::vector<Piece> pieces_;
  size_t used_ = 0;
};

}  // namespace kinjo::format::file
