// Which right row each left row is, where both sides of a join are one table: the same version of
// one Lance dataset, the same files, or the same rows in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "dataset/dataset.h"
#include "join/right_side.h"
#include "tabular/table_source.h"

namespace kinjo::join {

/// Gives the right address of left rows, block after block. One thread; holds one batch of a scan
/// that reads no column.
class LeftIdentity {
 public:
  /// Why rows of the two sides can't be told to be the same ("left.parquet and right.lance are two
  /// tables"), or "". Reads no row.
  static std::string WhyNotSame(const tabular::TableSource& left, const RightSide& right);

  /// Requires: WhyNotSame gives "". Both sides must outlive it.
  static std::unique_ptr<LeftIdentity> Open(const RightSide& right);

  /// addresses[i] becomes the right address that left row `first_row` + i is. Requires: blocks come
  /// in the order of the left; rows between them may be passed over.
  arrow::Status AddressesOf(int64_t first_row, std::span<uint64_t> addresses);

 private:
  explicit LeftIdentity(std::shared_ptr<dataset::Dataset> dataset) : dataset_(std::move(dataset)) {}

  std::shared_ptr<dataset::Dataset> dataset_;  // null for tables: their rows are numbered
  std::unique_ptr<dataset::Scan> scan_;
  dataset::ScanBatch batch_;
  int64_t batch_first_row_ = 0;
};

}  // namespace kinjo::join
