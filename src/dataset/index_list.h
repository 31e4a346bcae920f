// The vector indexes of a snapshot: entries of the manifest grouped by name, and why this build
// can't use one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/base_locations.h"
#include "dataset/dataset.h"
#include "dataset/row_lookup.h"
#include "format/table/manifest.h"

namespace kinjo::dataset {

struct IndexList {
  std::vector<IndexInfo> indexes;               ///< in manifest order of their first entry
  std::map<std::string, io::Location> folders;  ///< by segment UUID
};

/// Groups and judges the entries. Index files are opened only for an entry whose details don't tell
/// type and metric; failing to do so makes the index unusable, with the reason.
IndexList ListVectorIndexes(const format::Manifest& manifest, const BaseLocations& locations,
                            const FragmentTable& fragments,
                            const std::shared_ptr<io::IoCounters>& counters);

}  // namespace kinjo::dataset
