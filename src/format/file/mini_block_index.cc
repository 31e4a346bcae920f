#include "format/file/mini_block_index.h"

#include <algorithm>

namespace kinjo::format::file {

arrow::Result<MiniBlockIndex> MiniBlockIndex::Make(const proto::MiniBlockLayout& layout,
                                                   Bytes words, Bytes repetition,
                                                   uint64_t data_size, uint64_t num_rows,
                                                   const Where& where) {
  const uint32_t width = layout.has_large_chunk ? 4 : 2;
  if (words.size() % width != 0) {
    return where.Corrupt("a chunk index of ", words.size(), " bytes");
  }
  const size_t count = words.size() / width;
  MiniBlockIndex index;
  index.offsets_.reserve(count + 1);
  index.slots_.reserve(count + 1);
  uint64_t offset = 0;
  uint64_t slot = 0;
  for (size_t chunk = 0; chunk < count; ++chunk) {
    index.offsets_.push_back(offset);
    index.slots_.push_back(slot);
    const uint64_t word = LoadUnsigned(words.data() + chunk * width, width);
    offset += ((word >> 4) + 1) * 8;
    slot += uint64_t{1} << (word & 0xF);
    if (chunk + 1 < count && slot > layout.num_items) {
      return where.Corrupt("the chunk index counts ", slot, " values by chunk ", chunk,
                           ", where the page has ", layout.num_items);
    }
  }
  // The last chunk holds what is left, whatever its word says.
  if (offset > data_size || (count == 0 && layout.num_items != 0)) {
    return where.Corrupt("the chunk index covers ", offset, " bytes of ", data_size, " and ", count,
                         " chunks for ", layout.num_items, " values");
  }
  index.offsets_.push_back(offset);
  index.slots_.push_back(layout.num_items);
  if (layout.repetition_index_depth > 0) {
    ARROW_RETURN_NOT_OK(index.ReadRepetition(repetition, num_rows, where));
  } else if (layout.num_items != num_rows) {
    return where.Corrupt("a page of ", num_rows, " rows has ", layout.num_items, " values");
  }
  return index;
}

arrow::Status MiniBlockIndex::ReadRepetition(Bytes repetition, uint64_t num_rows,
                                             const Where& where) {
  if (repetition.size() / 16 < num_chunks()) {
    return where.Corrupt("a repetition index of ", repetition.size(), " bytes for ", num_chunks(),
                         " chunks");
  }
  uint64_t rows = 0;
  for (size_t chunk = 0; chunk < num_chunks(); ++chunk) {
    rows_ended_.push_back(rows);
    const uint8_t* entry = repetition.data() + chunk * 16;
    if (!CheckedAdd(rows, Load<uint64_t>(entry), &rows)) rows = UINT64_MAX;
    open_.push_back(Load<uint64_t>(entry + 8) != 0);
  }
  rows_ended_.push_back(rows);
  if (rows != num_rows || (!open_.empty() && open_.back())) {
    return where.Corrupt("the repetition index counts ", rows, " rows, where the page has ",
                         num_rows);
  }
  return arrow::Status::OK();
}

void MiniBlockIndex::FindChunks(uint64_t begin, uint64_t end, size_t from, size_t* first,
                                size_t* last) const {
  const std::vector<uint64_t>& starts = rows_ended_.empty() ? slots_ : rows_ended_;
  // The chunk where a row ends (with lists) or lies (without): the last one that starts at or
  // before it.
  const auto find = [&](uint64_t row, size_t start) {
    const auto position =
        std::upper_bound(starts.begin() + static_cast<std::ptrdiff_t>(start), starts.end(), row);
    return static_cast<size_t>(position - starts.begin()) - 1;
  };
  if (rows_ended_.empty()) {
    *first = find(begin, from);
  } else if (begin == 0) {
    *first = 0;
  } else {
    // A row begins where the one before it ends, unless that one ends with its chunk.
    const size_t before = find(begin - 1, 0);
    const bool shares = begin < rows_ended_[before + 1] || open_[before];
    *first = shares ? before : before + 1;
  }
  *last = find(end - 1, *first);
}

}  // namespace kinjo::format::file
