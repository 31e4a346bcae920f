// The index of a mini-block page: where each chunk lies, and which slots and rows it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "format/file/bytes.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

class MiniBlockIndex {
 public:
  /// Reads the chunk words and, when the page has lists, the repetition index. All sums are checked
  /// against the data's size, the layout's items and the page's rows.
  static arrow::Result<MiniBlockIndex> Make(const proto::MiniBlockLayout& layout, Bytes words,
                                            Bytes repetition, uint64_t data_size, uint64_t num_rows,
                                            const Where& where);

  /// An empty index; Make gives one that tells something.
  MiniBlockIndex() = default;

  uint64_t memory_bytes() const {
    return (offsets_.capacity() + slots_.capacity() + rows_ended_.capacity()) * 8 +
           open_.capacity() / 8;
  }
  size_t num_chunks() const { return offsets_.size() - 1; }
  /// Bytes [offset(c), offset(c + 1)) of the data are chunk c.
  uint64_t offset(size_t chunk) const { return offsets_[chunk]; }
  /// Slots [first_slot(c), first_slot(c + 1)) of the page lie in chunk c.
  uint64_t first_slot(size_t chunk) const { return slots_[chunk]; }

  /// Rows that begin, and rows that end, before chunk c (pages with lists).
  uint64_t rows_begun(size_t chunk) const {
    return rows_ended_[chunk] + (chunk > 0 && open_[chunk - 1]);
  }
  uint64_t rows_ended(size_t chunk) const { return rows_ended_[chunk]; }

  /// Chunks [first, last] that hold rows [begin, end); begin < end. `from`: a chunk that isn't past
  /// the first, to search on from.
  void FindChunks(uint64_t begin, uint64_t end, size_t from, size_t* first, size_t* last) const;

 private:
  arrow::Status ReadRepetition(Bytes repetition, uint64_t num_rows, const Where& where);

  std::vector<uint64_t> offsets_;
  std::vector<uint64_t> slots_;
  std::vector<uint64_t> rows_ended_;  // pages with lists: rows whose last level lies before a chunk
  std::vector<bool> open_;            // pages with lists: a row crosses the end of the chunk
};

}  // namespace kinjo::format::file
