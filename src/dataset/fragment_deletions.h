// The rows of a version that are deleted already, read fragment by fragment.
#pragma once

#include <cstdint>
#include <map>

#include "base/error.h"
#include "dataset/base_locations.h"
#include "dataset/table_version.h"
#include "format/table/dead_rows.h"
#include "format/table/manifest.h"

namespace kinjo::dataset {

/// Thread-safe. Refers to the version that it was made of.
class FragmentDeletions {
 public:
  static arrow::Result<FragmentDeletions> Make(const io::Location& root,
                                               const TableVersion& version);

  /// The dead rows of one fragment. REQUIRES: the version has it.
  arrow::Result<format::DeadRows> Read(uint64_t fragment_id) const;

 private:
  BaseLocations locations_;
  std::map<uint64_t, const format::Fragment*> fragments_;
};

}  // namespace kinjo::dataset
