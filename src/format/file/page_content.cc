#include "format/file/page_content.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/file/arrow_values.h"

namespace kinjo::format::file {

namespace {

using proto::RepDefLayer;

RepDefLayer ListLayer(bool null, bool empty) {
  if (null) return empty ? RepDefLayer::kNullAndEmptyList : RepDefLayer::kNullableList;
  return empty ? RepDefLayer::kEmptyableList : RepDefLayer::kAllValidList;
}

bool HasNulls(RepDefLayer layer) {
  return layer == RepDefLayer::kNullableItem || layer == RepDefLayer::kNullableList ||
         layer == RepDefLayer::kNullAndEmptyList;
}

bool HasEmpties(RepDefLayer layer) {
  return layer == RepDefLayer::kEmptyableList || layer == RepDefLayer::kNullAndEmptyList;
}

bool IsItem(RepDefLayer layer) {
  return layer == RepDefLayer::kNullableItem || layer == RepDefLayer::kAllValidItem;
}

uint16_t CountLevels(RepDefLayer layer) {
  return static_cast<uint16_t>((HasNulls(layer) ? 1 : 0) + (HasEmpties(layer) ? 1 : 0));
}

// Gives a number for null to each layer right within a struct that is null somewhere, down to the
// next list: Lance takes one without for valid, or loses count.
void NumberNullsBelowNulls(OwnLevels* levels) {
  const std::vector<RepDefLayer> old = levels->layers;
  for (size_t i = old.size() - 1; i > 0; --i) {
    RepDefLayer* below = &levels->layers[i - 1];
    if (!IsItem(levels->layers[i]) || !HasNulls(levels->layers[i])) continue;
    *below = IsItem(*below) ? RepDefLayer::kNullableItem : ListLayer(true, HasEmpties(*below));
  }
  std::vector<uint16_t> number{0};  // of each old one
  uint16_t next = 0;
  bool list_seen = false;
  for (size_t i = 0; i < old.size(); ++i) {
    if (!HasNulls(old[i]) && HasNulls(levels->layers[i])) ++next;
    for (uint16_t level = 0; level < CountLevels(old[i]); ++level) number.push_back(++next);
    list_seen = list_seen || !IsItem(old[i]);
    if (!list_seen) levels->max_visible = next;
  }
  levels->max_def = next;
  for (uint16_t& def : levels->def) def = number[def];
}

// Copies the value before each null slot into it (the first valid one into those at the start).
void FillNullSlots(const PageContent& page, uint8_t* values, uint64_t width) {
  const OwnLevels& levels = page.levels;
  const uint8_t* last = values + page.first_valid * width;
  uint64_t slot = 0;
  for (uint64_t entry = 0; entry < levels.num_entries; ++entry) {
    if (!levels.IsVisible(entry)) continue;
    uint8_t* value = values + slot * width;
    if (levels.def[entry] != 0) {
      std::memmove(value, last, width);
    } else {
      last = value;
    }
    ++slot;
  }
}

void CountValid(PageContent* page) {
  const OwnLevels& levels = page->levels;
  if (levels.def.empty()) {
    page->num_valid = page->values.num_values;
    return;
  }
  uint64_t slot = 0;
  for (uint64_t entry = 0; entry < levels.num_entries; ++entry) {
    if (!levels.IsVisible(entry)) continue;
    if (levels.def[entry] == 0 && page->num_valid++ == 0) page->first_valid = slot;
    ++slot;
  }
}

// Drops the bytes of null slots: a variable-width null has none.
arrow::Status DropNullBytes(PageContent* page) {
  const ValueBlock& block = page->values;
  const OwnLevels& levels = page->levels;
  const auto size = [&](uint64_t slot) { return block.offset(slot + 1) - block.offset(slot); };
  uint64_t slot = 0;
  bool clean = true;
  for (uint64_t entry = 0; clean && entry < levels.num_entries; ++entry) {
    if (!levels.IsVisible(entry)) continue;
    clean = levels.def[entry] == 0 || size(slot) == 0;
    ++slot;
  }
  if (clean) return arrow::Status::OK();
  ValueSink kept(page->leaf->type);
  const Where where;
  slot = 0;
  for (uint64_t entry = 0; entry < levels.num_entries; ++entry) {
    if (!levels.IsVisible(entry)) continue;
    ARROW_RETURN_NOT_OK(levels.def[entry] == 0 ? kept.Append(block, slot, 1, where)
                                               : kept.AppendEmpty(1));
    ++slot;
  }
  ARROW_ASSIGN_OR_RAISE(page->array, kept.Finish(nullptr, 0));
  page->values = BlockOf(page->leaf->type, *page->array);
  return arrow::Status::OK();
}

}  // namespace

OwnLevels MakeOwnLevels(const SchemaLayers& schema_layers, Levels levels) {
  OwnLevels own;
  own.num_entries = levels.num_entries;
  own.rep = std::move(levels.rep);
  // Which of the levels occur, and the number each gets.
  std::vector<uint16_t> number(schema_layers.size() * 2 + 1, 0);
  for (const uint16_t def : levels.def) number[def] = 1;
  number[0] = 0;
  uint16_t canonical = 1;
  uint16_t next = 0;
  const auto take = [&](bool always) {
    const bool occurs = number[canonical] != 0 || always;
    if (occurs) number[canonical] = ++next;
    ++canonical;
    return occurs;
  };
  // Lance loses count where a struct around lists has levels of nulls in some of its pages only.
  bool around_lists = false;
  for (const LayerKind kind : schema_layers) {
    const bool is_around = own.max_rep != 0 && kind == LayerKind::kItem;
    around_lists = around_lists || is_around;
    const bool null = take(is_around);
    if (kind == LayerKind::kItem) {
      own.layers.push_back(null ? RepDefLayer::kNullableItem : RepDefLayer::kAllValidItem);
    } else {
      own.layers.push_back(ListLayer(null, take(false)));
      ++own.max_rep;
    }
    if (own.max_rep == 0) own.max_visible = next;
  }
  own.max_def = next;
  if (next == 0) return own;
  own.def = std::move(levels.def);
  if (around_lists) own.def.resize(own.num_entries);
  for (uint16_t& def : own.def) def = number[def];
  NumberNullsBelowNulls(&own);
  return own;
}

arrow::Result<PageContent> MakePageContent(const LeafColumn& leaf, uint64_t num_rows,
                                           ColumnSink* sink) {
  PageContent page;
  page.leaf = &leaf;
  page.num_rows = num_rows;
  page.levels = MakeOwnLevels(leaf.layers, std::move(sink->levels));
  ARROW_ASSIGN_OR_RAISE(page.array, sink->values.Finish(nullptr, 0));
  page.values = BlockOf(leaf.type, *page.array);
  CountValid(&page);
  const bool has_nulls = page.num_valid < page.values.num_values;
  if (leaf.type.kind == LeafType::Kind::kVariable) {
    if (has_nulls) ARROW_RETURN_NOT_OK(DropNullBytes(&page));
    for (uint64_t i = 0; i < page.values.num_values; ++i) {
      page.longest_value =
          std::max(page.longest_value, page.values.offset(i + 1) - page.values.offset(i));
    }
  } else if (leaf.type.kind == LeafType::Kind::kFixed && leaf.type.items_per_value.empty() &&
             leaf.type.bits_per_value % 8 == 0 && has_nulls && page.num_valid > 0) {
    FillNullSlots(page, page.array->buffers[1]->mutable_data(), leaf.type.bits_per_value / 8);
  }
  return page;
}

std::shared_ptr<arrow::Buffer> BufferOf(std::vector<uint8_t> bytes) {
  return arrow::Buffer::FromVector(std::move(bytes));
}

}  // namespace kinjo::format::file
