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
  const auto take = [&] {
    const bool occurs = number[canonical] != 0;
    if (occurs) number[canonical] = ++next;
    ++canonical;
    return occurs;
  };
  for (const LayerKind kind : schema_layers) {
    const bool null = take();
    if (kind == LayerKind::kItem) {
      own.layers.push_back(null ? RepDefLayer::kNullableItem : RepDefLayer::kAllValidItem);
    } else {
      own.layers.push_back(ListLayer(null, take()));
      ++own.max_rep;
    }
    if (own.max_rep == 0) own.max_visible = next;
  }
  own.max_def = next;
  if (next == 0) return own;
  own.def = std::move(levels.def);
  for (uint16_t& def : own.def) def = number[def];
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
