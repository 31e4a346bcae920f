#include "format/file/column.h"

#include <algorithm>
#include <utility>

namespace kinjo::format::file {

namespace {

// Pages are read in requests of about this many bytes, so that a scan holds one batch of stored
// bytes beside its output.
constexpr uint64_t kBatchBytes = 32 << 20;

// Output is reserved ahead up to this many times the stored bytes; what decodes to more grows.
constexpr uint64_t kReserveFactor = 4;

// What reading a page's ranges brings into memory: the gaps that coalescing reads count too, and
// between scattered rows they are most of it.
uint64_t FetchedBytes(std::span<const io::ByteRange> ranges, uint64_t gap_bytes) {
  uint64_t bytes = 0;
  uint64_t end = UINT64_MAX;  // of the range before
  for (const io::ByteRange& range : ranges) {
    bytes += range.length;
    if (range.offset > end && range.offset - end <= gap_bytes) bytes += range.offset - end;
    end = range.offset + range.length;
  }
  return bytes;
}

}  // namespace

arrow::Result<std::vector<io::ByteRange>> PageBuffers(const proto::Page& page, uint64_t file_size,
                                                      const Where& where) {
  std::vector<io::ByteRange> buffers;
  for (size_t i = 0; i < page.buffer_offsets.size(); ++i) {
    const io::ByteRange range{page.buffer_offsets[i], page.buffer_sizes[i]};
    if (range.offset > file_size || range.length > file_size - range.offset) {
      return where.Corrupt("buffer ", i, " of ", range.length, " bytes at ", range.offset,
                           " lies outside the file's ", file_size, " bytes");
    }
    buffers.push_back(range);
  }
  return buffers;
}

arrow::Result<std::shared_ptr<Column>> Column::Make(std::shared_ptr<io::RandomReader> reader,
                                                    std::shared_ptr<PageCache> cache,
                                                    uint32_t number, uint64_t num_rows,
                                                    proto::ColumnMetadata metadata) {
  std::shared_ptr<Column> column(new Column(std::move(reader), std::move(cache), number));
  column->first_id_ = column->cache_->NumberPages(metadata.pages.size());
  uint64_t row = 0;
  Where where{.path = &column->reader_->path(), .column = number};
  for (size_t i = 0; i < metadata.pages.size(); ++i) {
    const proto::Page& page = metadata.pages[i];
    where.page = i;
    PagePlace place{.where = where, .buffers = {}, .num_rows = page.length};
    ARROW_ASSIGN_OR_RAISE(place.buffers, PageBuffers(page, column->reader_->size(), where));
    uint64_t bytes = 0;
    for (const io::ByteRange& buffer : place.buffers) bytes += buffer.length;
    if (!place.buffers.empty()) place.where.offset = place.buffers[0].offset;
    column->first_rows_.push_back(row);
    column->page_bytes_.push_back(bytes);
    ARROW_ASSIGN_OR_RAISE(auto made, MakePage(page.encoding, std::move(place)));
    uint64_t state_bytes = 0;
    for (const io::ByteRange& range : made->StateRanges()) state_bytes += range.length;
    column->state_bytes_.push_back(state_bytes);
    column->pages_.push_back(std::move(made));
    if (!CheckedAdd(row, page.length, &row)) row = UINT64_MAX;
  }
  if (row != num_rows) {
    return where.Corrupt("the column's pages hold ", row, " rows, where the file has ", num_rows);
  }
  column->first_rows_.push_back(row);
  return column;
}

std::vector<Column::Touched> Column::FindPages(std::span<const RowRange> ranges,
                                               std::vector<PageRows>* rows) const {
  std::vector<Touched> touched;
  size_t page = 0;
  for (const RowRange& range : ranges) {
    uint64_t row = range.begin;
    while (row < range.end) {
      if (row >= first_rows_[page + 1]) {
        const auto next = std::upper_bound(first_rows_.begin() + static_cast<std::ptrdiff_t>(page),
                                           first_rows_.end(), row);
        page = static_cast<size_t>(next - first_rows_.begin()) - 1;
      }
      const uint64_t end = std::min(range.end, first_rows_[page + 1]);
      if (touched.empty() || touched.back().page != page) {
        touched.push_back(
            {.page = page, .first_rows = rows->size(), .num_rows = 0, .state = {}, .read = {}});
      }
      rows->push_back({row - first_rows_[page], end - first_rows_[page]});
      ++touched.back().num_rows;
      row = end;
    }
  }
  return touched;
}

arrow::Status Column::LoadStates(std::span<Touched> touched, PagesAtHand* at_hand) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Touched*> missing;
  std::vector<size_t> first_range;
  std::vector<io::ByteRange> ranges;
  for (Touched& one : touched) {
    const auto more = pages_[one.page]->StateRanges();
    if (more.empty()) continue;
    one.state = cache_->Find(first_id_ + one.page);
    if (one.state == nullptr && at_hand != nullptr) {
      one.state = at_hand->Find(first_id_, first_id_ + one.page);
    }
    if (one.state != nullptr) continue;
    missing.push_back(&one);
    first_range.push_back(ranges.size());
    ranges.insert(ranges.end(), more.begin(), more.end());
  }
  if (missing.empty()) return arrow::Status::OK();
  first_range.push_back(ranges.size());
  ARROW_ASSIGN_OR_RAISE(const auto buffers, reader_->ReadRanges(ranges));
  for (size_t i = 0; i < missing.size(); ++i) {
    const Buffers own =
        Buffers(buffers).subspan(first_range[i], first_range[i + 1] - first_range[i]);
    const size_t page = missing[i]->page;
    ARROW_ASSIGN_OR_RAISE(missing[i]->state, pages_[page]->MakeState(own));
    const bool is_kept = cache_->Keep(first_id_ + page, missing[i]->state);
    if (!is_kept && at_hand != nullptr) {
      at_hand->Hold(first_id_, first_id_ + page, missing[i]->state);
    }
  }
  return arrow::Status::OK();
}

size_t Column::CountTogether(std::span<const Touched> touched) const {
  size_t count = 0;
  uint64_t bytes = 0;
  while (count < touched.size() && (count == 0 || bytes < kBatchBytes)) {
    bytes += state_bytes_[touched[count++].page];
  }
  return count;
}

arrow::Status Column::ReserveFor(const LeafColumn& leaf, std::span<const Touched> touched,
                                 ColumnSink* sink) const {
  uint64_t stored_bytes = 0;
  uint64_t stored_rows = 0;
  for (const Touched& one : touched) {
    stored_bytes += page_bytes_[one.page];
    stored_rows += first_rows_[one.page + 1] - first_rows_[one.page];
  }
  stored_bytes = std::min(stored_bytes, reader_->size());  // pages may claim the same bytes
  const uint64_t width = std::max<uint64_t>(1, BytesForBits(leaf.type.bits_per_value));
  const uint64_t justified = stored_bytes * kReserveFactor / width;
  const double share = static_cast<double>(sink->expected_rows) /
                       static_cast<double>(std::max<uint64_t>(1, stored_rows));
  const auto bytes =
      static_cast<uint64_t>(static_cast<double>(stored_bytes) * std::min(1.0, share));
  return sink->values.Reserve(std::min(sink->expected_rows, justified), bytes);
}

arrow::Status Column::Read(const LeafColumn& leaf, std::span<const RowRange> ranges,
                           ColumnSink* sink, PagesAtHand* at_hand) {
  // Also when the column was opened for another field: field ids and columns come from a manifest.
  if (!ranges.empty() && ranges.back().end > first_rows_.back()) {
    return Where{.path = &reader_->path(), .column = number_}.Corrupt(
        "rows up to ", ranges.back().end, " of a column of ", first_rows_.back());
  }
  std::vector<PageRows> rows;
  std::vector<Touched> all = FindPages(ranges, &rows);
  ARROW_RETURN_NOT_OK(ReserveFor(leaf, all, sink));
  for (std::span<Touched> rest(all); !rest.empty();) {
    const std::span<Touched> touched = rest.first(CountTogether(rest));
    rest = rest.subspan(touched.size());
    ARROW_RETURN_NOT_OK(LoadStates(touched, at_hand));
    for (Touched& one : touched) {
      const auto own = std::span<const PageRows>(rows).subspan(one.first_rows, one.num_rows);
      ARROW_ASSIGN_OR_RAISE(one.read, pages_[one.page]->Start(leaf, own, std::move(one.state)));
    }
    ARROW_RETURN_NOT_OK(ReadPages(touched, sink));
  }
  return arrow::Status::OK();
}

arrow::Status Column::ReadPages(std::span<Touched> touched, ColumnSink* sink) {
  // Lookups of all pages at once, then the data batch by batch.
  std::vector<io::ByteRange> ranges;
  std::vector<size_t> first_lookup;
  for (const Touched& one : touched) {
    first_lookup.push_back(ranges.size());
    ARROW_RETURN_NOT_OK(one.read->PlanLookups(&ranges));
  }
  first_lookup.push_back(ranges.size());
  std::vector<std::shared_ptr<arrow::Buffer>> lookups;
  if (!ranges.empty()) {
    ARROW_ASSIGN_OR_RAISE(lookups, reader_->ReadRanges(ranges));
  }
  Scratch scratch;
  for (size_t next = 0; next < touched.size();) {
    ranges.clear();
    std::vector<size_t> first_data;
    uint64_t bytes = 0;
    size_t end = next;
    for (; end < touched.size() && (end == next || bytes < kBatchBytes); ++end) {
      const size_t planned = ranges.size();
      first_data.push_back(planned);
      const Buffers own =
          Buffers(lookups).subspan(first_lookup[end], first_lookup[end + 1] - first_lookup[end]);
      ARROW_RETURN_NOT_OK(touched[end].read->PlanData(own, &ranges));
      bytes += FetchedBytes(std::span(ranges).subspan(planned), reader_->coalesce_gap_bytes());
    }
    first_data.push_back(ranges.size());
    std::vector<std::shared_ptr<arrow::Buffer>> data;
    if (!ranges.empty()) {
      ARROW_ASSIGN_OR_RAISE(data, reader_->ReadRanges(ranges));
    }
    for (size_t i = next; i < end; ++i) {
      const size_t first = first_data[i - next];
      const Buffers own = Buffers(data).subspan(first, first_data[i - next + 1] - first);
      ARROW_RETURN_NOT_OK(touched[i].read->Decode(own, &scratch, sink));
      touched[i].read.reset();
    }
    next = end;
  }
  return arrow::Status::OK();
}

}  // namespace kinjo::format::file
