// One column of a file of version 2.1 or later: its pages, and reads of rows across them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "format/file/lance_file.h"
#include "format/file/page.h"
#include "format/proto/file_messages.h"

namespace kinjo::format::file {

/// Thread-safe. The states of pages are made when first touched and kept in `cache`.
class Column {
 public:
  /// Takes the pages of `metadata`; checks that they cover `num_rows` rows and lie in the file.
  static arrow::Result<std::shared_ptr<Column>> Make(std::shared_ptr<io::RandomReader> reader,
                                                     std::shared_ptr<PageCache> cache,
                                                     uint32_t number, uint64_t num_rows,
                                                     proto::ColumnMetadata metadata);

  /// Reads rows (rising, within the file, none empty) into `sink`. States that `cache` doesn't keep
  /// are found in `at_hand`, if there is one, and held there.
  arrow::Status Read(const LeafColumn& leaf, std::span<const RowRange> ranges, ColumnSink* sink,
                     PagesAtHand* at_hand);

 private:
  // A page that a read touches and its part of the rows.
  struct Touched {
    size_t page = 0;
    size_t first_rows = 0;
    size_t num_rows = 0;
    std::shared_ptr<const PageState> state;
    std::unique_ptr<PageRead> read;
  };

  Column(std::shared_ptr<io::RandomReader> reader, std::shared_ptr<PageCache> cache,
         uint32_t number)
      : reader_(std::move(reader)), cache_(std::move(cache)), number_(number) {}

  std::vector<Touched> FindPages(std::span<const RowRange> ranges,
                                 std::vector<PageRows>* rows) const;
  arrow::Status ReserveFor(const LeafColumn& leaf, std::span<const Touched> touched,
                           ColumnSink* sink) const;
  // How many of `touched`, from the first on, have states that may be in memory together.
  size_t CountTogether(std::span<const Touched> touched) const;
  arrow::Status LoadStates(std::span<Touched> touched, PagesAtHand* at_hand);
  arrow::Status ReadPages(std::span<Touched> touched, ColumnSink* sink);

  const std::shared_ptr<io::RandomReader> reader_;
  const std::shared_ptr<PageCache> cache_;
  const uint32_t number_;
  uint64_t first_id_ = 0;  // of the pages in the cache
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<uint64_t> first_rows_;   // of each page, and the number of rows
  std::vector<uint64_t> page_bytes_;   // stored bytes of each page
  std::vector<uint64_t> state_bytes_;  // stored bytes of what each page's state is made of
  std::mutex mutex_;                   // held while states are made, so that each is made once
};

/// The ranges of a page's buffers; `corrupt` when one doesn't lie in the file.
arrow::Result<std::vector<io::ByteRange>> PageBuffers(const proto::Page& page, uint64_t file_size,
                                                      const Where& where);

}  // namespace kinjo::format::file
