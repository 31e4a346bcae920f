// Constant pages: one value for all rows, or nothing but nulls, with levels where rows differ.
// docs/format/data-file.md has the cases. Made by MakeConstantPage (page.h).
#include <memory>
#include <utility>

#include "format/file/page.h"

namespace kinjo::format::file {

namespace {

// The value as it is stored, and the levels decoded.
struct ConstantState final : PageState {
  std::vector<uint8_t> value;
  Scratch memory;
  const uint16_t* rep = nullptr;  // null: all levels are 0
  const uint16_t* def = nullptr;
  uint64_t num_levels = 0;
};

class ConstantPage final : public Page {
 public:
  ConstantPage(proto::ConstantLayout layout, PagePlace place)
      : layout_(std::move(layout)), place_(std::move(place)) {}

  std::vector<io::ByteRange> StateRanges() const override { return place_.buffers; }
  arrow::Result<std::shared_ptr<const PageState>> MakeState(Buffers buffers) const override;
  arrow::Result<std::unique_ptr<PageRead>> Start(
      const LeafColumn& leaf, std::span<const PageRows> rows,
      std::shared_ptr<const PageState> state) const override;

  bool has_value() const { return layout_.inline_value.has_value() || has_value_buffer(); }
  bool has_levels() const { return place_.buffers.size() >= 2; }
  const proto::ConstantLayout& layout() const { return layout_; }
  const PagePlace& place() const { return place_; }

 private:
  bool has_value_buffer() const { return place_.buffers.size() % 2 == 1; }
  arrow::Result<const uint16_t*> LoadLevels(
      const std::optional<proto::CompressiveEncoding>& encoding, Bytes buffer, uint64_t count,
      Scratch* scratch) const;
  arrow::Status LoadAllLevels(Bytes rep_buffer, Bytes def_buffer, ConstantState* state) const;

  const proto::ConstantLayout layout_;
  const PagePlace place_;
};

class ConstantRead final : public PageRead {
 public:
  ConstantRead(const ConstantPage& page, std::shared_ptr<const ConstantState> state,
               PageLevels levels, std::span<const PageRows> rows)
      : page_(page), state_(std::move(state)), levels_(std::move(levels)), rows_(rows) {}

  // All of a page is its state.
  arrow::Status PlanData(Buffers /*lookups*/, std::vector<io::ByteRange>* /*ranges*/) override {
    return arrow::Status::OK();
  }
  arrow::Status Decode(Buffers data, Scratch* scratch, ColumnSink* sink) override;

 private:
  arrow::Status LoadValue(const LeafType& leaf);
  arrow::Status AppendWithLevels(ColumnSink* sink);
  arrow::Status AppendEntries(const uint16_t* rep, const uint16_t* def, uint64_t count,
                              ColumnSink* sink);

  const ConstantPage& page_;
  const std::shared_ptr<const ConstantState> state_;  // null for a page without buffers
  const PageLevels levels_;
  const std::span<const PageRows> rows_;
  ValueBlock value_;
};

arrow::Result<std::unique_ptr<PageRead>> ConstantPage::Start(
    const LeafColumn& leaf, std::span<const PageRows> rows,
    std::shared_ptr<const PageState> state) const {
  ARROW_ASSIGN_OR_RAISE(PageLevels levels,
                        PageLevels::Make(layout_.layers, leaf.layers, place_.where));
  if (!has_levels() && levels.max_rep() > 0) {
    return place_.where.NotSupported("a constant page of lists without levels");
  }
  if (!has_levels() && !has_value() &&
      layout_.layers.front() != proto::RepDefLayer::kNullableItem) {
    return place_.where.Corrupt("a constant page has neither a value nor nulls");
  }
  return std::make_unique<ConstantRead>(
      *this, std::static_pointer_cast<const ConstantState>(std::move(state)), std::move(levels),
      rows);
}

arrow::Result<std::shared_ptr<const PageState>> ConstantPage::MakeState(Buffers buffers) const {
  auto state = std::make_shared<ConstantState>();
  if (has_value_buffer()) {
    const Bytes value = ToBytes(*buffers[0]);
    state->value.assign(value.begin(), value.end());
    buffers = buffers.subspan(1);
  }
  if (has_levels()) {
    ARROW_RETURN_NOT_OK(LoadAllLevels(ToBytes(*buffers[0]), ToBytes(*buffers[1]), state.get()));
  }
  state->bytes = state->value.size() + state->memory.taken_bytes();
  return state;
}

arrow::Status ConstantRead::Decode(Buffers /*data*/, Scratch* /*scratch*/, ColumnSink* sink) {
  if (page_.has_value()) ARROW_RETURN_NOT_OK(LoadValue(sink->values.leaf()));
  if (page_.has_levels()) return AppendWithLevels(sink);
  const Where& where = page_.place().where;
  for (const PageRows& range : rows_) {
    const uint64_t count = range.end - range.begin;
    if (page_.has_value()) {
      ARROW_RETURN_NOT_OK(sink->levels.Append(levels_, nullptr, nullptr, count, where));
      ARROW_RETURN_NOT_OK(sink->values.AppendRepeated(value_, count, where));
    } else {
      const std::vector<uint16_t> null_levels(count, 1);
      ARROW_RETURN_NOT_OK(sink->levels.Append(levels_, nullptr, null_levels.data(), count, where));
      ARROW_RETURN_NOT_OK(sink->values.AppendEmpty(count));
    }
  }
  return arrow::Status::OK();
}

// A value buffer: u32 number of buffers, a u32 length for each, the buffers. One buffer is a value
// of fixed width; two are the offsets {0, n} and the n bytes of a value of variable width.
arrow::Status ConstantRead::LoadValue(const LeafType& leaf) {
  const auto& inline_value = page_.layout().inline_value;
  const Where& where = page_.place().where;
  if (leaf.kind == LeafType::Kind::kNull) return where.Corrupt("a value in a column of nulls");
  const bool variable = leaf.kind == LeafType::Kind::kVariable;
  if (inline_value) {
    const bool bool_value = leaf.bits_per_value == 1 && inline_value->size() == 1;
    if (variable || (inline_value->size() * 8 != leaf.bits_per_value && !bool_value)) {
      return where.Corrupt("an inline value of ", inline_value->size(), " bytes in a column of ",
                           leaf.type->ToString());
    }
    value_.SetFixed(reinterpret_cast<const uint8_t*>(inline_value->data()),
                    inline_value->size() * 8, 1);
    return arrow::Status::OK();
  }
  const Bytes buffer = state_->value;
  const uint32_t parts = variable ? 2 : 1;
  const size_t header = 4 + size_t{4} * parts;
  if (buffer.size() < header || Load<uint32_t>(buffer.data()) != parts) {
    return where.Corrupt("a constant value of ", buffer.size(), " bytes");
  }
  const uint64_t first = Load<uint32_t>(buffer.data() + 4);
  const uint64_t rest = buffer.size() - header;
  if (!variable) {
    if (first > rest || first * 8 != leaf.bits_per_value) {
      return where.Corrupt("a constant of ", first, " bytes in a column of ",
                           leaf.type->ToString());
    }
    value_.SetFixed(buffer.data() + header, first * 8, 1);
    return arrow::Status::OK();
  }
  const uint64_t size = Load<uint32_t>(buffer.data() + 8);
  const auto width = static_cast<uint32_t>(first / 2);
  const uint8_t* offsets = buffer.data() + header;
  if ((first != 8 && first != 16) || first + size > rest ||
      !OffsetsAreSound(offsets, width, 1, size)) {
    return where.Corrupt("a constant of ", first, " and ", size, " bytes in a buffer of ",
                         buffer.size());
  }
  value_.SetVariable(offsets + first, offsets, width, 1);
  return arrow::Status::OK();
}

// Null for an empty buffer: all levels are 0.
arrow::Result<const uint16_t*> ConstantPage::LoadLevels(
    const std::optional<proto::CompressiveEncoding>& encoding, Bytes buffer, uint64_t count,
    Scratch* scratch) const {
  if (buffer.empty()) return nullptr;
  if (encoding) return DecodeLevels(*encoding, buffer, count, place_.where, scratch);
  if (buffer.size() / 2 != count) {
    return place_.where.Corrupt("a level buffer of ", buffer.size(), " bytes for ", count,
                                " levels");
  }
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, scratch->Take(count * 2, place_.where));
  std::memcpy(out, buffer.data(), count * 2);
  return reinterpret_cast<const uint16_t*>(out);
}

arrow::Status ConstantPage::LoadAllLevels(Bytes rep_buffer, Bytes def_buffer,
                                          ConstantState* state) const {
  uint64_t rep_count = 0;
  if (!rep_buffer.empty()) {
    rep_count = layout_.rep_compression ? layout_.num_rep_values : rep_buffer.size() / 2;
  }
  uint64_t def_count = 0;
  if (!def_buffer.empty()) {
    def_count = layout_.def_compression ? layout_.num_def_values : def_buffer.size() / 2;
  }
  const uint64_t count = rep_count != 0 ? rep_count : def_count != 0 ? def_count : place_.num_rows;
  if ((def_count != 0 && def_count != count) || (rep_count == 0 && count != place_.num_rows)) {
    return place_.where.Corrupt("a constant page of ", place_.num_rows, " rows with ", rep_count,
                                " repetition and ", def_count, " definition levels");
  }
  state->num_levels = count;
  ARROW_ASSIGN_OR_RAISE(state->rep,
                        LoadLevels(layout_.rep_compression, rep_buffer, count, &state->memory));
  ARROW_ASSIGN_OR_RAISE(state->def,
                        LoadLevels(layout_.def_compression, def_buffer, count, &state->memory));
  return arrow::Status::OK();
}

arrow::Status ConstantRead::AppendWithLevels(ColumnSink* sink) {
  const uint16_t* rep = state_->rep;
  const uint16_t* def = state_->def;
  if ((rep != nullptr) != (levels_.max_rep() > 0)) {
    return page_.place().where.Corrupt(
        "the constant page's layers and its repetition levels don't agree");
  }
  if (rep == nullptr) {
    for (const PageRows& range : rows_) {
      ARROW_RETURN_NOT_OK(AppendEntries(nullptr, def == nullptr ? nullptr : def + range.begin,
                                        range.end - range.begin, sink));
    }
    return arrow::Status::OK();
  }
  const EntryRun run{.rep = rep, .def = def, .num_entries = state_->num_levels};
  return SelectEntries(run, levels_, rows_,
                       [&](const EntrySpan& span) {
                         return AppendEntries(rep + span.begin,
                                              def == nullptr ? nullptr : def + span.begin,
                                              span.end - span.begin, sink);
                       })
      .status();
}

arrow::Status ConstantRead::AppendEntries(const uint16_t* rep, const uint16_t* def, uint64_t count,
                                          ColumnSink* sink) {
  const Where& where = page_.place().where;
  ARROW_RETURN_NOT_OK(sink->levels.Append(levels_, rep, def, count, where));
  uint64_t slots = count;
  if (def != nullptr) {
    slots = 0;
    for (uint64_t i = 0; i < count; ++i) slots += def[i] <= levels_.max_visible();
  }
  if (page_.has_value()) return sink->values.AppendRepeated(value_, slots, where);
  return sink->values.AppendEmpty(slots);
}

}  // namespace

arrow::Result<std::unique_ptr<Page>> MakeConstantPage(proto::ConstantLayout layout,
                                                      PagePlace place) {
  if (place.buffers.size() > 3 || (layout.inline_value && place.buffers.size() % 2 == 1) ||
      layout.layers.empty()) {
    return place.where.Corrupt("a constant page of ", place.buffers.size(), " buffers and ",
                               layout.layers.size(), " layers");
  }
  return std::make_unique<ConstantPage>(std::move(layout), std::move(place));
}

}  // namespace kinjo::format::file
