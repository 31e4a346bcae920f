// What rows keep when a compaction moves them and row ids are stable: their ids, and the versions
// that they were made and changed in.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "format/proto/table_encoding.h"
#include "format/proto/table_messages.h"
#include "format/table/dead_rows.h"

namespace kinjo::dataset {

/// Gathered from the old fragments in their order, given to the new ones. One thread. Memory: eight
/// bytes a row.
class MovedRows {
 public:
  /// Takes over the versions of a fragment's live rows.
  void AddVersions(const format::proto::DataFragmentMessage& fragment,
                   const format::DeadRows& dead);
  arrow::Status AddRowIds(const Dataset& dataset, std::span<const RowAddress> addresses);

  /// REQUIRES: the fragments have as many rows together as were added.
  void GiveTo(std::vector<format::proto::DataFragmentMessage>* fragments) const;

 private:
  /// Versions of rows in order, or none where a fragment doesn't tell them.
  struct Versions {
    bool known = true;
    std::vector<format::proto::VersionRun> runs;
  };
  static void AddLive(const std::optional<std::string>& message, uint64_t physical_rows,
                      const format::DeadRows& dead, Versions* versions);

  std::vector<uint64_t> ids_;
  Versions created_at_;
  Versions last_updated_at_;
};

}  // namespace kinjo::dataset
