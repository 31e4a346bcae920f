// A snapshot of some of a version's fragments: what one task of many searches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"

namespace kinjo::dataset {

/// Dataset::Open of these fragments alone, as if the version had no others: no row of those is
/// live, and an index is searched as far as it covers these. An id that the version doesn't have is
/// `not_found`.
arrow::Result<std::shared_ptr<Dataset>> OpenFragments(const std::string& uri,
                                                      const OpenOptions& options,
                                                      const std::vector<uint64_t>& fragment_ids);

}  // namespace kinjo::dataset
