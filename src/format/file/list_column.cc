#include "format/file/list_column.h"

#include <algorithm>
#include <utility>

#include "format/file/column.h"

namespace kinjo::format::file {

struct ListColumn::EndsState final : PageState {
  OpenedBuffers opened;
};

arrow::Result<std::shared_ptr<ListColumn>> ListColumn::Make(
    std::shared_ptr<io::RandomReader> reader, std::shared_ptr<PageCache> cache, uint32_t number,
    uint64_t num_rows, const proto::ColumnMetadata& metadata) {
  std::shared_ptr<ListColumn> column(new ListColumn(std::move(reader), std::move(cache)));
  column->first_id_ = column->cache_->NumberPages(metadata.pages.size());
  uint64_t row = 0;
  for (size_t i = 0; i < metadata.pages.size(); ++i) {
    const proto::Page& message = metadata.pages[i];
    Page page;
    page.where = Where{.path = &column->reader_->path(), .column = number, .page = i};
    proto::ArrayEncoding encoding;
    if (!proto::ParseArrayEncoding(message.encoding.value, &encoding)) {
      return page.where.Corrupt("malformed page encoding");
    }
    if (encoding.kind != proto::ArrayEncoding::Kind::kList) {
      return page.where.NotSupported("encoding ", proto::Describe(encoding),
                                     " in a column of lists");
    }
    ARROW_ASSIGN_OR_RAISE(auto buffers, PageBuffers(message, column->reader_->size(), page.where));
    ARROW_ASSIGN_OR_RAISE(
        page.ends, FlatPart::Make(encoding.children[0], buffers, page.where, &page.compressed));
    if (page.ends.bits != 64)
      return page.where.NotSupported("offsets of ", page.ends.bits, " bits");
    page.where.offset = page.ends.buffer.offset;
    page.null_adjustment = encoding.null_adjustment;
    page.first_row = row;
    page.num_rows = message.length;
    page.first_item = column->num_items_;
    page.num_items = encoding.num_items;
    if (!CheckedAdd(row, page.num_rows, &row) ||
        !CheckedAdd(column->num_items_, page.num_items, &column->num_items_)) {
      return page.where.Corrupt("more than 2^64 rows or items");
    }
    column->pages_.push_back(page);
  }
  if (row != num_rows) {
    return Where{.path = &column->reader_->path(), .column = number}.Corrupt(
        "the column's pages hold ", row, " lists, where ", num_rows, " are meant");
  }
  return column;
}

arrow::Result<ListRows> ListColumn::Read(std::span<const RowRange> ranges,
                                         PagesAtHand* at_hand) const {
  const uint64_t num_rows = pages_.empty() ? 0 : pages_.back().first_row + pages_.back().num_rows;
  if (!ranges.empty() && ranges.back().end > num_rows) {
    return base::Corrupt(reader_->path(), 0, "rows up to ", ranges.back().end, " of a column of ",
                         num_rows, " lists");
  }
  std::vector<Piece> pieces;
  std::vector<io::ByteRange> reads;
  size_t number = 0;
  for (const RowRange& range : ranges) {
    uint64_t row = range.begin;
    while (row < range.end) {
      while (row >= pages_[number].first_row + pages_[number].num_rows) ++number;
      const Page& page = pages_[number];
      const Piece piece{.page = number,
                        .begin = row - page.first_row,
                        .end = std::min(range.end - page.first_row, page.num_rows)};
      const uint64_t first = piece.begin == 0 ? 0 : piece.begin - 1;
      ARROW_ASSIGN_OR_RAISE(auto slice, page.ends.Slice(first, piece.end, page.where));
      pieces.push_back(piece);
      reads.push_back(slice);
      row = page.first_row + piece.end;
    }
  }
  ARROW_ASSIGN_OR_RAISE(const auto buffers, reader_->ReadRanges(reads));
  ListRows rows;
  std::shared_ptr<const EndsState> state = std::make_shared<EndsState>();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const size_t page = pieces[i].page;
    if (pages_[page].ends.compressed && (i == 0 || pieces[i - 1].page != page)) {
      ARROW_ASSIGN_OR_RAISE(state, OpenEnds(page, at_hand));
    }
    ARROW_RETURN_NOT_OK(ReadPiece(pages_[page], pieces[i], *state, ToBytes(*buffers[i]), &rows));
  }
  return rows;
}

arrow::Result<std::shared_ptr<const ListColumn::EndsState>> ListColumn::OpenEnds(
    size_t page, PagesAtHand* at_hand) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto kept = cache_->Find(first_id_ + page);
  if (kept == nullptr && at_hand != nullptr) kept = at_hand->Find(first_id_, first_id_ + page);
  if (kept != nullptr) {
    return std::static_pointer_cast<const EndsState>(std::move(kept));
  }
  const auto& compressed = pages_[page].compressed;
  ARROW_ASSIGN_OR_RAISE(const auto stored, reader_->Read(compressed[0].range));
  auto made = std::make_shared<EndsState>();
  ARROW_RETURN_NOT_OK(made->opened.Open(compressed, std::span(&stored, 1), pages_[page].where));
  made->bytes = made->opened.bytes();
  const bool is_kept = cache_->Keep(first_id_ + page, made);
  if (!is_kept && at_hand != nullptr) at_hand->Hold(first_id_, first_id_ + page, made);
  return made;
}

arrow::Status ListColumn::ReadPiece(const Page& page, const Piece& piece, const EndsState& state,
                                    Bytes ends, ListRows* rows) {
  const uint64_t first = piece.begin == 0 ? 0 : piece.begin - 1;
  ARROW_ASSIGN_OR_RAISE(ends, page.ends.Find(ends, state.opened, first, piece.end, page.where));
  uint64_t previous = 0;
  uint64_t begin_item = 0;
  for (uint64_t row = first; row < piece.end; ++row) {
    uint64_t end = Load<uint64_t>(ends.data() + (row - first) * 8);
    const bool is_null = page.null_adjustment != 0 && end >= page.null_adjustment;
    if (is_null) end -= page.null_adjustment;
    if (end < previous || end > page.num_items) {
      return page.where.Corrupt("list ", row, " of the page ends at item ", end, " of ",
                                page.num_items);
    }
    if (row < piece.begin) {
      begin_item = end;
    } else {
      rows->lengths.push_back(end - previous);
      rows->is_null.push_back(is_null);
    }
    previous = end;
  }
  if (previous == begin_item) return arrow::Status::OK();
  const RowRange items{page.first_item + begin_item, page.first_item + previous};
  if (!rows->items.empty() && rows->items.back().end == items.begin) {
    rows->items.back().end = items.end;
  } else {
    rows->items.push_back(items);
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::format::file
