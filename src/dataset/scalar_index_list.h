// The scalar indexes of a snapshot that can answer parts of a filter: B-tree and bitmap entries of
// the manifest grouped by name. Other kinds are left out: a scan answers for them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dataset/base_locations.h"
#include "dataset/dataset.h"
#include "dataset/row_lookup.h"
#include "format/table/manifest.h"

namespace kinjo::dataset {

struct ScalarIndexList {
  std::vector<ScalarIndexInfo> indexes;         ///< in manifest order of their first entry
  std::map<std::string, io::Location> folders;  ///< by segment UUID
};

/// Groups and judges the entries; opens no file.
ScalarIndexList ListScalarIndexes(const format::Manifest& manifest, const BaseLocations& locations,
                                  const FragmentTable& fragments);

}  // namespace kinjo::dataset
