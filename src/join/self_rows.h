// Which left row each right row of a self-join is, and back: pairs are counted by rows of one
// table, and the search names right rows by their addresses.
#pragma once

#include <cstdint>
#include <vector>

#include "base/cancel_token.h"
#include "base/error.h"
#include "dataset/dataset.h"

namespace kinjo::join {

/// The live rows of one table, numbered in the order in which it is read as a left side. Immutable;
/// thread-safe.
class SelfRows {
 public:
  /// `dataset` is null for a table of files, whose addresses are the numbers of its rows, of which
  /// there are `num_rows`.
  static arrow::Result<SelfRows> Make(dataset::Dataset* dataset, int64_t num_rows,
                                      const base::CancelToken& cancel);
  /// What Make takes at most.
  static int64_t SizeBytes(const dataset::Dataset* dataset);

  int64_t num_rows() const { return num_rows_; }
  /// Requires: a row below num_rows().
  uint64_t AddressOf(int64_t row) const;
  /// Requires: the address of a live row.
  int64_t RowOf(uint64_t address) const;

 private:
  /// The live rows of a fragment.
  struct Run {
    uint64_t fragment_id = 0;
    int64_t first_row = 0;
    std::vector<uint32_t> live;  ///< physical rows, rising; empty = none is deleted
  };

  explicit SelfRows(int64_t num_rows) : num_rows_(num_rows) {}

  int64_t num_rows_;
  std::vector<Run> runs_;                 // in the order of rows; empty for files
  std::vector<uint32_t> by_fragment_id_;  // positions in runs_, rising by id
};

}  // namespace kinjo::join
