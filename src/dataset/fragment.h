// One fragment of a snapshot, ready to read: its data files (opened when first needed), its dead
// rows, and which file holds which column.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrow/array.h"
#include "base/error.h"
#include "dataset/base_locations.h"
#include "format/file/lance_file.h"
#include "format/table/manifest.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// Immutable but for the files that get opened; thread-safe.
class Fragment {
 public:
  /// Reads the deletion file, if there is one; data files wait, unless the manifest counts no rows.
  /// `page_cache` is that of the dataset; null: each file has its own.
  static arrow::Result<std::unique_ptr<Fragment>> Make(
      format::Fragment fragment, const BaseLocations& locations,
      std::shared_ptr<io::IoCounters> counters, std::shared_ptr<format::PageCache> page_cache);

  uint64_t id() const { return fragment_.id; }
  uint64_t physical_rows() const { return fragment_.physical_rows; }
  uint64_t live_rows() const { return fragment_.physical_rows - dead_.count(); }
  const format::DeadRows& dead() const { return dead_; }
  const std::vector<format::DataFile>& files() const { return fragment_.files; }
  const std::optional<format::RowIdSequence>& row_ids() const { return fragment_.row_ids; }
  /// Opens the data file at this place of files(), once.
  arrow::Result<std::shared_ptr<format::LanceFile>> Open(size_t number);
  const io::Location& file_location(size_t number) const { return open_files_[number].location; }
  bool IsLive(uint64_t row) const { return row < physical_rows() && !dead_.Contains(row); }

  /// Reads the rows of one top-level field; `ranges` and `at_hand` as LanceFile::ReadRowsInTurn
  /// wants them. A field that no file has reads as null; what several files hold the parts of (a
  /// struct of which a child was added, cast or updated) is put together.
  arrow::Result<std::shared_ptr<arrow::Array>> ReadColumn(const format::Field& field,
                                                          std::span<const format::RowRange> ranges,
                                                          format::PagesAtHand* at_hand = nullptr);

 private:
  struct OpenFile {
    io::Location location;
    std::mutex mutex;
    std::shared_ptr<format::LanceFile> file;
  };

  Fragment(format::Fragment fragment, std::shared_ptr<io::IoCounters> counters,
           std::shared_ptr<format::PageCache> page_cache)
      : fragment_(std::move(fragment)),
        counters_(std::move(counters)),
        page_cache_(std::move(page_cache)),
        open_files_(fragment_.files.size()) {}

  const format::Fragment fragment_;
  const std::shared_ptr<io::IoCounters> counters_;
  const std::shared_ptr<format::PageCache> page_cache_;
  format::DeadRows dead_;
  std::vector<OpenFile> open_files_;
};

}  // namespace kinjo::dataset
