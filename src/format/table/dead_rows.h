// The dead rows of one fragment, and the files that list them: an Arrow file of offsets or a
// Roaring bitmap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "format/file/lance_file.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// A set of deleted rows: one bit a row, in blocks that exist only where a row is deleted, so that
/// memory follows what is listed and not what a manifest claims. Movable. Reads are thread-safe.
class DeadRows {
 public:
  bool empty() const { return count_ == 0; }
  uint64_t count() const { return count_; }

  bool Contains(uint64_t row) const {
    const uint64_t block = row / kBlockRows;
    if (block >= blocks_.size() || blocks_[block] == nullptr) return false;
    return ((*blocks_[block])[row % kBlockRows / 64] >> (row % 64) & 1) != 0;
  }

  /// How many rows of [begin, end) are deleted.
  uint64_t CountIn(uint64_t begin, uint64_t end) const;

  /// Adds a row. Memory grows with the highest row divided by 8,192, and with the rows added.
  void Add(uint64_t row);

  /// Appends the runs of live rows in [begin, end) to `ranges`; gives their total length.
  uint64_t AppendLiveRanges(uint64_t begin, uint64_t end, std::vector<RowRange>* ranges) const;

 private:
  static constexpr uint64_t kBlockRows = 65536;
  using Block = std::array<uint64_t, kBlockRows / 64>;

  /// The first row in [row, end) whose deadness is `dead`, or `end`.
  uint64_t FindNext(uint64_t row, uint64_t end, bool dead) const;

  std::vector<std::unique_ptr<Block>> blocks_;
  uint64_t count_ = 0;
};

enum class DeletionFileType : uint8_t { kArrowArray = 0, kBitmap = 1 };

/// Reads a whole deletion file. An offset that isn't below `physical_rows` is `corrupt`.
arrow::Result<DeadRows> ReadDeletionFile(io::RandomReader* reader, DeletionFileType type,
                                         uint64_t physical_rows);

}  // namespace kinjo::format
