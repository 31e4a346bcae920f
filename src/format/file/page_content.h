// What a page is made of before it has an encoding: rows of one leaf column, the levels in the
// page's own numbers, and what the encoders want to know about the values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/array/data.h"
#include "format/file/bytes.h"
#include "format/file/page.h"
#include "format/file/value_block.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// The levels of a page, numbered by its own layers: a layer that nothing of the page needs takes
/// no number, unless Lance wants one.
struct OwnLevels {
  std::vector<proto::RepDefLayer> layers;
  std::vector<uint16_t> rep;  ///< empty without lists
  std::vector<uint16_t> def;  ///< empty when all are 0
  uint64_t num_entries = 0;
  uint16_t max_rep = 0;
  uint16_t max_def = 0;
  uint16_t max_visible = 0;

  bool IsVisible(uint64_t entry) const { return def.empty() || def[entry] <= max_visible; }
  /// The entry begins a row.
  bool BeginsRow(uint64_t entry) const { return rep.empty() || rep[entry] == max_rep; }
};

/// Renumbers the levels of `levels.h`.
OwnLevels MakeOwnLevels(const SchemaLayers& schema_layers, Levels levels);

/// A page to be encoded. Owns what `values` borrows.
struct PageContent {
  const LeafColumn* leaf = nullptr;
  uint64_t num_rows = 0;
  OwnLevels levels;
  std::shared_ptr<arrow::ArrayData> array;
  ValueBlock values;           ///< one a visible entry
  uint64_t num_valid = 0;      ///< visible entries that aren't null
  uint64_t first_valid = 0;    ///< slot of the first of them, if there is one
  uint64_t longest_value = 0;  ///< bytes, of variable width
};

/// Takes what a sink gathered. Slots of nulls whose content doesn't matter get the value before
/// them, so that they cost no encoding anything.
arrow::Result<PageContent> MakePageContent(const LeafColumn& leaf, uint64_t num_rows,
                                           ColumnSink* sink);

/// A page as it goes into the file.
struct EncodedPage {
  std::vector<std::shared_ptr<arrow::Buffer>> buffers;
  proto::PageLayout layout;
};

/// A buffer that owns `bytes`.
std::shared_ptr<arrow::Buffer> BufferOf(std::vector<uint8_t> bytes);

}  // namespace kinjo::format::file
