// A list column of version 2.0: the ends of the lists. The items are a column of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "format/file/flat_part.h"
#include "format/file/lance_file.h"
#include "format/proto/file_messages.h"
#include "io/random_reader.h"

namespace kinjo::format::file {

/// Where the items of some lists lie.
struct ListRows {
  std::vector<uint64_t> lengths;
  std::vector<bool> is_null;
  std::vector<RowRange> items;  ///< rows of the item column; rising, neighbours joined
};

/// Immutable; thread-safe. In each page the ends count from 0, and those of null lists have the
/// null adjustment added.
class ListColumn {
 public:
  static arrow::Result<std::shared_ptr<ListColumn>> Make(std::shared_ptr<io::RandomReader> reader,
                                                         std::shared_ptr<PageCache> cache,
                                                         uint32_t number, uint64_t num_rows,
                                                         const proto::ColumnMetadata& metadata);

  uint64_t num_items() const { return num_items_; }

  /// Reads rows (rising, within the column, none empty); `at_hand` as Column::Read has it.
  arrow::Result<ListRows> Read(std::span<const RowRange> ranges, PagesAtHand* at_hand) const;

 private:
  struct Page {
    Where where;
    FlatPart ends;
    std::vector<CompressedBuffer> compressed;  // the ends, if they are
    uint64_t null_adjustment = 0;
    uint64_t first_row = 0;
    uint64_t num_rows = 0;
    uint64_t first_item = 0;
    uint64_t num_items = 0;
  };
  // Rows [begin, end) of one page.
  struct Piece {
    size_t page = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  // Ends that were compressed, opened.
  struct EndsState;

  ListColumn(std::shared_ptr<io::RandomReader> reader, std::shared_ptr<PageCache> cache)
      : reader_(std::move(reader)), cache_(std::move(cache)) {}
  arrow::Result<std::shared_ptr<const EndsState>> OpenEnds(size_t page, PagesAtHand* at_hand) const;
  static arrow::Status ReadPiece(const Page& page, const Piece& piece, const EndsState& state,
                                 Bytes ends, ListRows* rows);

  const std::shared_ptr<io::RandomReader> reader_;
  const std::shared_ptr<PageCache> cache_;
  uint64_t first_id_ = 0;     // of the pages in the cache
  mutable std::mutex mutex_;  // held while ends are opened
  std::vector<Page> pages_;
  uint64_t num_items_ = 0;
};

}  // namespace kinjo::format::file
