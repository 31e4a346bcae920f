#include "format/file/levels.h"

#include <algorithm>

#include "format/file/block_values.h"

namespace kinjo::format::file {

namespace {

using proto::RepDefLayer;

bool IsList(RepDefLayer layer) {
  return layer == RepDefLayer::kAllValidList || layer == RepDefLayer::kNullableList ||
         layer == RepDefLayer::kEmptyableList || layer == RepDefLayer::kNullAndEmptyList;
}

}  // namespace

arrow::Result<PageLevels> PageLevels::Make(const std::vector<RepDefLayer>& layers,
                                           const SchemaLayers& schema_layers, const Where& where) {
  bool same_shape = layers.size() == schema_layers.size();
  for (size_t i = 0; same_shape && i < layers.size(); ++i) {
    same_shape = IsList(layers[i]) == (schema_layers[i] == LayerKind::kList);
  }
  if (!same_shape) {
    return where.Corrupt("the page has ", layers.size(),
                         " layers of levels that don't fit the schema's ", schema_layers.size());
  }
  PageLevels levels;
  uint16_t canonical = 1;
  for (const RepDefLayer layer : layers) {
    if (!IsList(layer)) {
      if (layer == RepDefLayer::kNullableItem) levels.canonical_.push_back(canonical);
      canonical += 1;
    } else {
      ++levels.max_rep_;
      if (layer == RepDefLayer::kNullableList || layer == RepDefLayer::kNullAndEmptyList) {
        levels.canonical_.push_back(canonical);
      }
      if (layer == RepDefLayer::kEmptyableList || layer == RepDefLayer::kNullAndEmptyList) {
        levels.canonical_.push_back(canonical + 1);
      }
      canonical += 2;
    }
    if (levels.max_rep_ == 0) levels.max_visible_ = levels.max_def();
  }
  return levels;
}

arrow::Status Levels::Append(const PageLevels& page, const uint16_t* page_rep,
                             const uint16_t* page_def, uint64_t count, const Where& where) {
  if (page_rep != nullptr) {
    rep.resize(num_entries);
    rep.insert(rep.end(), page_rep, page_rep + count);
  } else if (!rep.empty()) {
    rep.resize(num_entries + count);
  }
  if (page_def != nullptr) {
    def.resize(num_entries + count);
    uint16_t* out = def.data() + num_entries;
    const uint16_t max_def = page.max_def();
    for (uint64_t i = 0; i < count; ++i) {
      if (page_def[i] > max_def) {
        return where.Corrupt("definition level ", page_def[i], " where ", max_def,
                             " is the highest");
      }
      out[i] = page.Canonical(page_def[i]);
    }
  } else if (!def.empty()) {
    def.resize(num_entries + count);
  }
  num_entries += count;
  return arrow::Status::OK();
}

arrow::Result<const uint16_t*> DecodeLevels(const proto::CompressiveEncoding& encoding,
                                            Bytes buffer, uint64_t num_levels, const Where& where,
                                            Scratch* scratch) {
  ValueBlock block;
  ARROW_RETURN_NOT_OK(DecodeBlock(encoding, buffer, num_levels, true, where, scratch, &block));
  if (block.variable || block.bits_per_value != 16) {
    return where.Corrupt("levels of ", block.bits_per_value, " bits");
  }
  // The buffer may lie at an odd address, so the levels move to memory of ours.
  ARROW_ASSIGN_OR_RAISE(uint8_t* out, scratch->Take(num_levels * 2, where));
  if (num_levels != 0) std::memcpy(out, block.values, num_levels * 2);
  return reinterpret_cast<const uint16_t*>(out);
}

arrow::Result<uint64_t> SelectEntries(const EntryRun& run, const PageLevels& levels,
                                      std::span<const PageRows> rows,
                                      const std::function<arrow::Status(const EntrySpan&)>& take) {
  const uint16_t max_rep = levels.max_rep();
  const uint16_t max_visible = levels.max_visible();
  uint64_t row = run.rows_begun;  // one more than the row at hand
  uint64_t slot = 0;
  size_t next = 0;
  EntrySpan span;
  bool open = false;
  const auto close = [&](uint64_t entry) {
    open = false;
    span.end = entry;
    span.num_slots = slot - span.first_slot;
    return take(span);
  };
  for (uint64_t entry = 0; entry < run.num_entries; ++entry) {
    if (run.rep[entry] == max_rep) ++row;
    while (next < rows.size() && row > rows[next].end) {
      if (open) ARROW_RETURN_NOT_OK(close(entry));
      ++next;
    }
    const bool wanted = next < rows.size() && row > rows[next].begin;
    if (wanted && !open) {
      open = true;
      span = EntrySpan{.begin = entry, .first_slot = slot};
    }
    slot += run.def == nullptr || run.def[entry] <= max_visible;
  }
  if (open) ARROW_RETURN_NOT_OK(close(run.num_entries));
  return slot;
}

}  // namespace kinjo::format::file
