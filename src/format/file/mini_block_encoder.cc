#include "format/file/mini_block_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "format/file/level_encoder.h"
#include "format/file/mini_values_encoder.h"

namespace kinjo::format::file {

namespace {

constexpr uint64_t kMostSlots = 4096;
// Lengths of levels have 16 bits, and in 2.1 a whole chunk has 32 KiB: room for levels of two bytes
// on either side and for the values.
constexpr uint64_t kMostLevels = 16384;
constexpr uint64_t kMostLevelsV21 = 5000;
constexpr uint64_t kMostChunkBytesV21 = 4096 * 8;
constexpr uint8_t kPadding = 0xFE;

// The most slots that a chunk may have so that no such run of slots has too many levels: a power of
// two; less than 2 when there is none.
uint64_t MostSlotsPerChunk(const OwnLevels& levels, uint64_t most_levels) {
  if (levels.rep.empty()) return kMostSlots;
  std::vector<uint64_t> entry_of;  // of each slot
  for (uint64_t entry = 0; entry < levels.num_entries; ++entry) {
    if (levels.IsVisible(entry)) entry_of.push_back(entry);
  }
  const auto begin = [&](uint64_t slot) {
    return slot == 0 ? 0 : slot < entry_of.size() ? entry_of[slot] : levels.num_entries;
  };
  uint64_t slots = kMostSlots;
  for (uint64_t first = 0; first < entry_of.size() && slots >= 2;) {
    // Chunks begin where the sum of the ones before ends, so every start must do.
    const uint64_t end = std::min<uint64_t>(first + slots, entry_of.size());
    if (begin(end) - begin(first) > most_levels) {
      slots /= 2;
    } else {
      ++first;
    }
  }
  return slots;
}

class MiniBlockEncoding {
 public:
  MiniBlockEncoding(const PageContent& page, const WriteChoices& choices)
      : page_(page), levels_(page.levels), choices_(choices) {}

  arrow::Result<std::optional<EncodedPage>> Run();

 private:
  void FindChunkEntries();
  void AppendChunk(size_t chunk);
  void AppendPart(Bytes part);
  std::vector<uint8_t> RepetitionIndex() const;

  const PageContent& page_;
  const OwnLevels& levels_;
  const WriteChoices& choices_;
  MiniValues values_;
  std::vector<uint64_t> first_entry_;  // of each chunk, and their number
  size_t chunk_start_ = 0;             // in data_
  EncodedLevels rep_;
  EncodedLevels def_;
  size_t next_rep_ = 0;   // of rep_.bytes
  size_t next_def_ = 0;   // of def_.bytes
  size_t next_byte_ = 0;  // of values_.bytes
  std::vector<uint8_t> index_;
  std::vector<uint8_t> data_;
  bool fits_ = true;
};

// Entries without a slot go with the slot before them, at the start with the one behind.
void MiniBlockEncoding::FindChunkEntries() {
  first_entry_.push_back(0);
  uint64_t entry = 0;
  for (const uint64_t slots : values_.slots) {
    uint64_t taken = 0;
    while (entry < levels_.num_entries) {
      const bool visible = levels_.IsVisible(entry);
      if (visible && taken == slots) break;
      taken += visible;
      ++entry;
    }
    first_entry_.push_back(entry);
  }
}

// The next `size` bytes of a stream of parts.
Bytes Next(const std::vector<uint8_t>& bytes, uint64_t size, size_t* position) {
  const Bytes part(bytes.data() + *position, size);
  *position += size;
  return part;
}

void MiniBlockEncoding::AppendPart(Bytes part) {
  data_.insert(data_.end(), part.begin(), part.end());
  data_.resize(chunk_start_ + RoundUpTo8(data_.size() - chunk_start_), kPadding);
}

void MiniBlockEncoding::AppendChunk(size_t chunk) {
  const bool large = choices_.is_v22();
  const uint64_t first = first_entry_[chunk];
  const uint64_t num_levels = first_entry_[chunk + 1] - first;
  chunk_start_ = data_.size();
  const auto number = [&](uint64_t value, uint32_t width) {
    const size_t at = data_.size();
    data_.resize(at + width);
    std::memcpy(data_.data() + at, &value, width);
  };
  const bool has_levels = !levels_.rep.empty() || !levels_.def.empty();
  number(has_levels ? num_levels : 0, 2);
  if (!levels_.rep.empty()) number(rep_.sizes[chunk], 2);
  if (!levels_.def.empty()) number(def_.sizes[chunk], 2);
  const uint64_t* sizes = values_.sizes.data() + chunk * values_.num_buffers;
  for (uint64_t i = 0; i < values_.num_buffers; ++i) number(sizes[i], large ? 4 : 2);
  AppendPart({});
  if (!levels_.rep.empty()) AppendPart(Next(rep_.bytes, rep_.sizes[chunk], &next_rep_));
  if (!levels_.def.empty()) AppendPart(Next(def_.bytes, def_.sizes[chunk], &next_def_));
  for (uint64_t i = 0; i < values_.num_buffers; ++i) {
    AppendPart(Next(values_.bytes, sizes[i], &next_byte_));
  }
  const uint64_t chunk_bytes = data_.size() - chunk_start_;
  fits_ = fits_ && (large || chunk_bytes <= kMostChunkBytesV21);
  const bool last = chunk + 1 == values_.num_chunks();
  const auto log2 = last ? 0 : static_cast<uint64_t>(std::countr_zero(values_.slots[chunk]));
  const uint64_t word = (chunk_bytes / 8 - 1) << 4 | log2;
  const size_t at = index_.size();
  index_.resize(at + (large ? 4 : 2));
  std::memcpy(index_.data() + at, &word, large ? 4 : 2);
}

// Per chunk: rows whose last level lies in it, and the levels behind the last of those.
std::vector<uint8_t> MiniBlockEncoding::RepetitionIndex() const {
  std::vector<uint8_t> index(values_.num_chunks() * 16);
  for (size_t chunk = 0; chunk < values_.num_chunks(); ++chunk) {
    uint64_t rows = 0;
    uint64_t left = 0;
    for (uint64_t entry = first_entry_[chunk]; entry < first_entry_[chunk + 1]; ++entry) {
      const bool ends = entry + 1 == levels_.num_entries || levels_.BeginsRow(entry + 1);
      rows += ends;
      left = ends ? 0 : left + 1;
    }
    std::memcpy(index.data() + chunk * 16, &rows, 8);
    std::memcpy(index.data() + chunk * 16 + 8, &left, 8);
  }
  return index;
}

arrow::Result<std::optional<EncodedPage>> MiniBlockEncoding::Run() {
  const uint64_t most_slots =
      MostSlotsPerChunk(levels_, choices_.is_v22() ? kMostLevels : kMostLevelsV21);
  if (most_slots < 2) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(values_, EncodeMiniValues(page_, choices_, most_slots));
  FindChunkEntries();
  proto::MiniBlockLayout layout;
  // Runs in levels came to readers after the other two encodings.
  const bool may_use_runs = choices_.is_v22();
  if (!levels_.rep.empty()) {
    rep_ = EncodeLevels(levels_.rep, first_entry_, levels_.max_rep, may_use_runs);
    layout.rep_compression = rep_.encoding;
  }
  if (!levels_.def.empty()) {
    def_ = EncodeLevels(levels_.def, first_entry_, levels_.max_def, may_use_runs);
    layout.def_compression = def_.encoding;
  }
  constexpr size_t kHeaderAndPadding = 48;
  data_.reserve(values_.bytes.size() + rep_.bytes.size() + def_.bytes.size() +
                values_.num_chunks() * kHeaderAndPadding);
  for (size_t chunk = 0; chunk < values_.num_chunks(); ++chunk) AppendChunk(chunk);
  if (!fits_) return std::nullopt;
  layout.value_compression = std::move(values_.encoding);
  layout.layers = levels_.layers;
  layout.num_buffers = values_.num_buffers;
  layout.num_items = page_.values.num_values;
  layout.has_large_chunk = choices_.is_v22();
  EncodedPage encoded;
  encoded.buffers.push_back(BufferOf(std::move(index_)));
  encoded.buffers.push_back(BufferOf(std::move(data_)));
  if (values_.dictionary) {
    layout.dictionary = std::move(values_.dictionary->encoding);
    layout.num_dictionary_items = values_.num_dictionary_items;
    encoded.buffers.push_back(BufferOf(std::move(values_.dictionary->bytes)));
  }
  if (!levels_.rep.empty()) {
    layout.repetition_index_depth = 1;
    encoded.buffers.push_back(BufferOf(RepetitionIndex()));
  }
  encoded.layout.kind = proto::PageLayout::Kind::kMiniBlock;
  encoded.layout.mini_block = std::move(layout);
  return encoded;
}

}  // namespace

arrow::Result<std::optional<EncodedPage>> EncodeMiniBlock(const PageContent& page,
                                                          const WriteChoices& choices) {
  return MiniBlockEncoding(page, choices).Run();
}

}  // namespace kinjo::format::file
