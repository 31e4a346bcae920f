// From row ids to live rows and back: the dead test of a search, and the map of stable row ids.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/fragment.h"

namespace kinjo::dataset {

/// Finds fragments by id. Immutable; thread-safe. The fragments must outlive it.
class FragmentTable {
 public:
  FragmentTable() = default;
  explicit FragmentTable(std::vector<const Fragment*> fragments);

  /// The fragment, or null when it isn't in the table.
  const Fragment* Find(uint64_t id) const;
  const std::vector<const Fragment*>& fragments() const { return by_id_; }

 private:
  std::vector<const Fragment*> by_id_;  ///< rising
  uint64_t first_id_ = 0;
  std::vector<const Fragment*> dense_;  ///< entry i is fragment first_id_ + i; empty when sparse
};

/// Where the live rows with stable ids are. Built when first asked; immutable then; thread-safe.
class StableRowIds {
 public:
  explicit StableRowIds(const FragmentTable* fragments) : fragments_(fragments) {}

  /// Writes the address of each id's live row, or kDeadRow. A live id that two rows claim is
  /// `corrupt`.
  arrow::Status Find(std::span<const uint64_t> ids, std::span<RowAddress> addresses) const;

 private:
  /// Ids first_id + i at addresses first_address + i, all live.
  struct Run {
    uint64_t first_id = 0;
    RowAddress first_address = 0;
    uint64_t length = 0;
  };
  arrow::Status Build() const;

  const FragmentTable* fragments_;
  mutable std::once_flag once_;
  mutable std::vector<Run> runs_;  ///< rising by id
  mutable arrow::Status status_;
};

/// Replaces each address by kDeadRow unless it is a live row of a fragment in `covered`.
void KeepLiveRows(const FragmentTable& covered, std::span<RowAddress> addresses);

}  // namespace kinjo::dataset
