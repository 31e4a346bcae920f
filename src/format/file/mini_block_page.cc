// Mini-block pages: values in chunks of a few KiB, each with its own levels.
// docs/format/data-file.md has the bytes of a chunk. Made by MakeMiniBlockPage (page.h).
#include <algorithm>
#include <memory>
#include <utility>

#include "format/file/block_values.h"
#include "format/file/mini_block_index.h"
#include "format/file/mini_values.h"
#include "format/file/page.h"

namespace kinjo::format::file {

namespace {

constexpr size_t kIndexBuffer = 0;
constexpr size_t kDataBuffer = 1;
constexpr size_t kDictionaryBuffer = 2;
constexpr uint64_t kMaxValueBuffers = 64;

class MiniBlockPage;

struct MiniBlockState final : PageState {
  MiniBlockIndex index;
  // The dictionary: as stored, what was decoded of it, and how to step through it.
  std::vector<uint8_t> dictionary_bytes;
  Scratch dictionary_memory;
  ValueBlock dictionary;
};

// The parts of one chunk.
struct Chunk {
  uint64_t num_levels = 0;
  Bytes rep;
  Bytes def;
  std::vector<Bytes> values;
};

class MiniBlockRead final : public PageRead {
 public:
  MiniBlockRead(const MiniBlockPage& page, std::shared_ptr<const MiniBlockState> state,
                PageLevels levels, std::span<const PageRows> rows)
      : page_(page), state_(std::move(state)), levels_(std::move(levels)), rows_(rows) {}

  arrow::Status PlanData(Buffers lookups, std::vector<io::ByteRange>* ranges) override;
  arrow::Status Decode(Buffers data, Scratch* scratch, ColumnSink* sink) override;

 private:
  // Neighbouring chunks [first, last], read together, and the rows wanted from them.
  struct Run {
    size_t first = 0;
    size_t last = 0;
    size_t first_rows = 0;  // of rows_
    size_t end_rows = 0;
  };

  arrow::Status DecodeRun(const Run& run, Bytes bytes, Scratch* scratch, ColumnSink* sink);
  arrow::Status DecodeChunk(size_t number, Bytes bytes, std::span<const PageRows> rows,
                            Scratch* scratch, ColumnSink* sink);
  arrow::Status SplitChunk(Bytes bytes, const Where& where, Chunk* chunk) const;
  arrow::Status AppendSlots(uint64_t start, uint64_t count, const Where& where, ColumnSink* sink);
  arrow::Status AppendFromDictionary(uint64_t start, uint64_t count, const Where& where,
                                     ColumnSink* sink);
  void FindNullSlots();

  const MiniBlockPage& page_;
  const std::shared_ptr<const MiniBlockState> state_;
  const PageLevels levels_;
  const std::span<const PageRows> rows_;
  std::vector<Run> runs_;
  std::vector<uint64_t> picked_;
  // The chunk at hand.
  Chunk chunk_;
  ValueBlock block_;
  const uint16_t* rep_ = nullptr;
  const uint16_t* def_ = nullptr;
  std::vector<bool> slot_is_null_;  // filled when first needed
};

class MiniBlockPage final : public Page {
 public:
  MiniBlockPage(proto::MiniBlockLayout layout, PagePlace place, MiniBlockCodec codec)
      : layout_(std::move(layout)), place_(std::move(place)), codec_(std::move(codec)) {}

  std::vector<io::ByteRange> StateRanges() const override {
    std::vector<io::ByteRange> ranges{place_.buffers[kIndexBuffer]};
    if (layout_.repetition_index_depth > 0) ranges.push_back(place_.buffers[RepetitionBuffer()]);
    if (layout_.dictionary) ranges.push_back(place_.buffers[kDictionaryBuffer]);
    return ranges;
  }
  arrow::Result<std::shared_ptr<const PageState>> MakeState(Buffers buffers) const override;
  arrow::Result<std::unique_ptr<PageRead>> Start(
      const LeafColumn& leaf, std::span<const PageRows> rows,
      std::shared_ptr<const PageState> state) const override;

  size_t RepetitionBuffer() const { return layout_.dictionary ? 3 : 2; }
  const proto::MiniBlockLayout& layout() const { return layout_; }
  const PagePlace& place() const { return place_; }
  const MiniBlockCodec& codec() const { return codec_; }

 private:
  const proto::MiniBlockLayout layout_;
  const PagePlace place_;
  const MiniBlockCodec codec_;
};

arrow::Result<std::shared_ptr<const PageState>> MiniBlockPage::MakeState(Buffers buffers) const {
  auto state = std::make_shared<MiniBlockState>();
  const bool lists = layout_.repetition_index_depth > 0;
  const Bytes words = ToBytes(*buffers[0]);
  const Bytes repetition = lists ? ToBytes(*buffers[1]) : Bytes();
  ARROW_ASSIGN_OR_RAISE(
      state->index,
      MiniBlockIndex::Make(layout_, words, repetition, place_.buffers[kDataBuffer].length,
                           place_.num_rows, place_.where.At(place_.buffers[kIndexBuffer].offset)));
  if (layout_.dictionary) {
    const Bytes stored = ToBytes(*buffers.back());
    state->dictionary_bytes.assign(stored.begin(), stored.end());
    ARROW_RETURN_NOT_OK(DecodeBlock(*layout_.dictionary, state->dictionary_bytes,
                                    layout_.num_dictionary_items, false,
                                    place_.where.At(place_.buffers[kDictionaryBuffer].offset),
                                    &state->dictionary_memory, &state->dictionary));
  }
  state->bytes = state->index.memory_bytes() + state->dictionary_bytes.size() +
                 state->dictionary_memory.taken_bytes();
  return state;
}

arrow::Result<std::unique_ptr<PageRead>> MiniBlockPage::Start(
    const LeafColumn& leaf, std::span<const PageRows> rows,
    std::shared_ptr<const PageState> state) const {
  ARROW_ASSIGN_OR_RAISE(PageLevels levels,
                        PageLevels::Make(layout_.layers, leaf.layers, place_.where));
  const bool has_rep = layout_.rep_compression.has_value();
  if (has_rep != (levels.max_rep() > 0)) {
    return place_.where.Corrupt("the page's layers and its repetition levels don't agree");
  }
  return std::make_unique<MiniBlockRead>(
      *this, std::static_pointer_cast<const MiniBlockState>(std::move(state)), std::move(levels),
      rows);
}

arrow::Status MiniBlockRead::PlanData(Buffers /*lookups*/, std::vector<io::ByteRange>* ranges) {
  const PagePlace& place = page_.place();
  for (size_t i = 0; i < rows_.size(); ++i) {
    size_t first = 0;
    size_t last = 0;
    const size_t from = runs_.empty() ? 0 : runs_.back().last;
    state_->index.FindChunks(rows_[i].begin, rows_[i].end, from, &first, &last);
    if (!runs_.empty() && first <= runs_.back().last + 1) {
      runs_.back().last = std::max(runs_.back().last, last);
      runs_.back().end_rows = i + 1;
    } else {
      runs_.push_back({.first = first, .last = last, .first_rows = i, .end_rows = i + 1});
    }
  }
  for (const Run& run : runs_) {
    const uint64_t begin = state_->index.offset(run.first);
    const uint64_t end = state_->index.offset(run.last + 1);
    ranges->push_back({place.buffers[kDataBuffer].offset + begin, end - begin});
  }
  return arrow::Status::OK();
}

arrow::Status MiniBlockRead::Decode(Buffers data, Scratch* scratch, ColumnSink* sink) {
  for (size_t i = 0; i < runs_.size(); ++i) {
    ARROW_RETURN_NOT_OK(DecodeRun(runs_[i], ToBytes(*data[i]), scratch, sink));
  }
  return arrow::Status::OK();
}

arrow::Status MiniBlockRead::DecodeRun(const Run& run, Bytes bytes, Scratch* scratch,
                                       ColumnSink* sink) {
  const MiniBlockIndex& index = state_->index;
  const bool lists = levels_.max_rep() > 0;
  const uint64_t base = index.offset(run.first);
  size_t next = run.first_rows;
  for (size_t chunk = run.first; chunk <= run.last; ++chunk) {
    // The ranges that reach into this chunk; those before it are done for good.
    const uint64_t begin = lists ? index.rows_ended(chunk) : index.first_slot(chunk);
    const uint64_t end_row = lists ? index.rows_begun(chunk + 1) : index.first_slot(chunk + 1);
    while (next < run.end_rows && rows_[next].end <= begin) ++next;
    size_t end = next;
    while (end < run.end_rows && rows_[end].begin < end_row) ++end;
    if (end == next) continue;
    scratch->Reset();
    ARROW_RETURN_NOT_OK(DecodeChunk(
        chunk,
        bytes.subspan(index.offset(chunk) - base, index.offset(chunk + 1) - index.offset(chunk)),
        rows_.subspan(next, end - next), scratch, sink));
  }
  return arrow::Status::OK();
}

arrow::Status MiniBlockRead::SplitChunk(Bytes bytes, const Where& where, Chunk* chunk) const {
  const proto::MiniBlockLayout& layout = page_.layout();
  const uint32_t size_width = layout.has_large_chunk ? 4 : 2;
  const size_t level_buffers =
      size_t{layout.rep_compression.has_value()} + size_t{layout.def_compression.has_value()};
  const size_t header = 2 + 2 * level_buffers + size_width * layout.num_buffers;
  if (bytes.size() < header) return where.Corrupt("a chunk of ", bytes.size(), " bytes");
  const uint8_t* position = bytes.data();
  chunk->num_levels = Load<uint16_t>(position);
  position += 2;
  uint64_t at = RoundUpTo8(header);
  bool fits = true;
  const auto take = [&](uint32_t width) {
    const uint64_t size = LoadUnsigned(position, width);
    position += width;
    fits = fits && at <= bytes.size() && size <= bytes.size() - at;
    const Bytes part = fits ? bytes.subspan(at, size) : Bytes();
    at = RoundUpTo8(at + size);
    return part;
  };
  if (layout.rep_compression) chunk->rep = take(2);
  if (layout.def_compression) chunk->def = take(2);
  chunk->values.clear();
  for (uint64_t i = 0; i < layout.num_buffers; ++i) chunk->values.push_back(take(size_width));
  if (!fits) return where.Corrupt("the parts of a chunk reach past its ", bytes.size(), " bytes");
  return arrow::Status::OK();
}

arrow::Status MiniBlockRead::DecodeChunk(size_t number, Bytes bytes, std::span<const PageRows> rows,
                                         Scratch* scratch, ColumnSink* sink) {
  const proto::MiniBlockLayout& layout = page_.layout();
  const MiniBlockIndex& index = state_->index;
  const Where where =
      page_.place().where.At(page_.place().buffers[kDataBuffer].offset + index.offset(number));
  ARROW_RETURN_NOT_OK(SplitChunk(bytes, where, &chunk_));
  const uint64_t first_slot = index.first_slot(number);
  const uint64_t num_slots = index.first_slot(number + 1) - first_slot;
  ARROW_RETURN_NOT_OK(page_.codec().Decode(chunk_.values, num_slots, where, scratch, &block_));
  rep_ = nullptr;
  def_ = nullptr;
  slot_is_null_.clear();
  if (layout.rep_compression) {
    ARROW_ASSIGN_OR_RAISE(
        rep_, DecodeLevels(*layout.rep_compression, chunk_.rep, chunk_.num_levels, where, scratch));
  }
  if (layout.def_compression) {
    ARROW_ASSIGN_OR_RAISE(
        def_, DecodeLevels(*layout.def_compression, chunk_.def, chunk_.num_levels, where, scratch));
  }
  if (rep_ == nullptr) {
    if (def_ != nullptr && chunk_.num_levels != num_slots) {
      return where.Corrupt("a chunk of ", num_slots, " values has ", chunk_.num_levels, " levels");
    }
    for (const PageRows& range : rows) {
      const uint64_t begin = std::max(range.begin, first_slot) - first_slot;
      const uint64_t end = std::min(range.end, first_slot + num_slots) - first_slot;
      ARROW_RETURN_NOT_OK(sink->levels.Append(
          levels_, nullptr, def_ == nullptr ? nullptr : def_ + begin, end - begin, where));
      ARROW_RETURN_NOT_OK(AppendSlots(begin, end - begin, where, sink));
    }
    return arrow::Status::OK();
  }
  const EntryRun entries{.rep = rep_,
                         .def = def_,
                         .num_entries = chunk_.num_levels,
                         .rows_begun = index.rows_begun(number)};
  const auto take = [&](const EntrySpan& span) -> arrow::Status {
    if (span.first_slot + span.num_slots > num_slots) {
      return where.Corrupt("the levels of a chunk own more than its ", num_slots, " values");
    }
    ARROW_RETURN_NOT_OK(sink->levels.Append(levels_, rep_ + span.begin,
                                            def_ == nullptr ? nullptr : def_ + span.begin,
                                            span.end - span.begin, where));
    return AppendSlots(span.first_slot, span.num_slots, where, sink);
  };
  ARROW_ASSIGN_OR_RAISE(const uint64_t slots, SelectEntries(entries, levels_, rows, take));
  if (slots != num_slots) {
    return where.Corrupt("the levels of a chunk own ", slots, " of its ", num_slots, " values");
  }
  return arrow::Status::OK();
}

arrow::Status MiniBlockRead::AppendSlots(uint64_t start, uint64_t count, const Where& where,
                                         ColumnSink* sink) {
  if (page_.layout().dictionary) return AppendFromDictionary(start, count, where, sink);
  return sink->values.Append(block_, start, count, where);
}

arrow::Status MiniBlockRead::AppendFromDictionary(uint64_t start, uint64_t count,
                                                  const Where& where, ColumnSink* sink) {
  const auto width = static_cast<uint32_t>(block_.bits_per_value / 8);
  const bool known =
      !block_.variable && (block_.bits_per_value == 8 || block_.bits_per_value == 16 ||
                           block_.bits_per_value == 32 || block_.bits_per_value == 64);
  if (!known) return where.Corrupt("dictionary indices of ", block_.bits_per_value, " bits");
  picked_.resize(count);
  bool all_known = true;
  for (uint64_t i = 0; i < count; ++i) {
    picked_[i] = LoadUnsigned(block_.values + (start + i) * width, width);
    all_known &= picked_[i] < state_->dictionary.num_values;
  }
  if (all_known) return sink->values.AppendPicked(state_->dictionary, picked_, where);
  if (slot_is_null_.empty()) FindNullSlots();
  for (uint64_t i = 0; i < count; ++i) {
    if (picked_[i] < state_->dictionary.num_values) {
      ARROW_RETURN_NOT_OK(sink->values.Append(state_->dictionary, picked_[i], 1, where));
    } else if (start + i < slot_is_null_.size() && slot_is_null_[start + i]) {
      ARROW_RETURN_NOT_OK(sink->values.AppendEmpty(1));
    } else {
      return where.Corrupt("dictionary index ", picked_[i], " of ", state_->dictionary.num_values,
                           " items");
    }
  }
  return arrow::Status::OK();
}

// What a null's slot holds is arbitrary.
void MiniBlockRead::FindNullSlots() {
  if (def_ == nullptr) return;
  for (uint64_t entry = 0; entry < chunk_.num_levels; ++entry) {
    if (def_[entry] <= levels_.max_visible()) slot_is_null_.push_back(def_[entry] != 0);
  }
}

}  // namespace

arrow::Result<std::unique_ptr<Page>> MakeMiniBlockPage(proto::MiniBlockLayout layout,
                                                       PagePlace place) {
  const size_t needed =
      2 + size_t{layout.dictionary.has_value()} + size_t{layout.repetition_index_depth > 0};
  if (place.buffers.size() < needed || layout.num_buffers > kMaxValueBuffers) {
    return place.where.Corrupt("a mini-block page of ", place.buffers.size(), " buffers and ",
                               layout.num_buffers, " value buffers a chunk");
  }
  if (layout.repetition_index_depth > 1 ||
      (layout.repetition_index_depth > 0) != layout.rep_compression.has_value()) {
    return place.where.NotSupported("a repetition index of depth ", layout.repetition_index_depth);
  }
  ARROW_ASSIGN_OR_RAISE(
      MiniBlockCodec codec,
      MiniBlockCodec::Make(layout.value_compression, layout.num_buffers, place.where));
  return std::make_unique<MiniBlockPage>(std::move(layout), std::move(place), std::move(codec));
}

}  // namespace kinjo::format::file
