// Where rows went that a compaction moved, for what lists rows by address.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "dataset/dataset.h"
#include "format/proto/table_messages.h"
#include "format/table/dead_rows.h"

namespace kinjo::dataset {

/// The live rows of each group of old fragments, in order, are those of its new fragments. Memory:
/// about a bit for each row of the old fragments. Reads are thread-safe.
class MovedAddresses {
 public:
  /// Begins a group; what is added next belongs to it.
  void BeginGroup() { groups_.emplace_back(); }
  void AddOld(uint64_t fragment_id, uint64_t physical_rows, format::DeadRows dead);
  /// Says which fragments have the rows of a group. REQUIRES: as many rows as live ones were added.
  void SetNew(size_t group, std::span<const format::proto::DataFragmentMessage> made);

  /// Replaces the addresses of rows that moved. One of a row that was deleted stays as it is, and
  /// leads to a fragment that is gone. REQUIRES: SetNew() for every group.
  void Apply(std::span<RowAddress> addresses) const;

 private:
  struct Old {
    size_t group = 0;
    uint64_t first = 0;  ///< position in the group of the first live row
    uint64_t physical_rows = 0;
    format::DeadRows dead;
    std::vector<uint32_t> dead_before;  ///< deleted rows before each block of rows
  };
  struct New {
    uint64_t end = 0;  ///< position in the group behind the last row
    uint64_t fragment_id = 0;
  };
  struct Group {
    uint64_t rows = 0;
    std::vector<New> made;
  };

  RowAddress Find(const Old& old, uint64_t row) const;

  std::unordered_map<uint64_t, Old> old_;
  std::vector<Group> groups_;
};

}  // namespace kinjo::dataset
