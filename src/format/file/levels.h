// Definition and repetition levels: what they mean in one page, and how they are kept once read.
//
// A page numbers its definition levels by its own `layers` (a page without nulls has fewer
// numbers), so levels of several pages can't be compared. Here they are renumbered as if every item
// layer were nullable and every list layer nullable and emptyable: from the inside out, an item
// layer takes one number (null), a list layer two (null, empty). 0 stays "valid all the way".
// Repetition levels need no renumbering.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "format/file/bytes.h"
#include "format/file/scratch.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

enum class LayerKind : uint8_t { kItem, kList };

/// The layers above (and including) a leaf as its schema gives them, innermost first.
using SchemaLayers = std::vector<LayerKind>;

/// What the levels of one page mean.
class PageLevels {
 public:
  /// `corrupt` when the page's layers don't have the shape of the schema's.
  static arrow::Result<PageLevels> Make(const std::vector<proto::RepDefLayer>& layers,
                                        const SchemaLayers& schema_layers, const Where& where);

  uint16_t max_rep() const { return max_rep_; }
  uint16_t max_def() const { return static_cast<uint16_t>(canonical_.size() - 1); }
  /// Entries with a greater definition level have no value slot.
  uint16_t max_visible() const { return max_visible_; }
  /// The renumbered level of a page's level <= max_def().
  uint16_t Canonical(uint16_t def) const { return canonical_[def]; }

 private:
  uint16_t max_rep_ = 0;
  uint16_t max_visible_ = 0;
  std::vector<uint16_t> canonical_{0};
};

/// The levels of the entries read so far. An empty vector stands for zeros.
struct Levels {
  uint64_t num_entries = 0;
  std::vector<uint16_t> rep;
  std::vector<uint16_t> def;  ///< renumbered

  /// Adds `count` entries. `page_rep`, `page_def`: null for zeros; the page's own numbers.
  arrow::Status Append(const PageLevels& page, const uint16_t* page_rep, const uint16_t* page_def,
                       uint64_t count, const Where& where);
};

/// Decodes a level buffer to `num_levels` numbers in `scratch`.
arrow::Result<const uint16_t*> DecodeLevels(const proto::CompressiveEncoding& encoding,
                                            Bytes buffer, uint64_t num_levels, const Where& where,
                                            Scratch* scratch);

/// Rows [begin, end), counted from the start of a page.
struct PageRows {
  uint64_t begin = 0;
  uint64_t end = 0;
};

/// Entries [begin, end) of a run of entries and the value slots that they own.
struct EntrySpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t first_slot = 0;
  uint64_t num_slots = 0;
};

/// A run of entries in which lists may cross both ends.
struct EntryRun {
  const uint16_t* rep = nullptr;  ///< never null
  const uint16_t* def = nullptr;  ///< null: all zero
  uint64_t num_entries = 0;
  uint64_t rows_begun = 0;  ///< rows of the page that begin before this run
};

/// Calls `take` for each stretch of entries that belongs to one of `rows` (rising). Returns the
/// number of value slots of the whole run.
arrow::Result<uint64_t> SelectEntries(const EntryRun& run, const PageLevels& levels,
                                      std::span<const PageRows> rows,
                                      const std::function<arrow::Status(const EntrySpan&)>& take);

}  // namespace kinjo::format::file
