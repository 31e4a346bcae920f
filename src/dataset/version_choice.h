// Which version of a dataset is meant by a number, a tag or a time, and where its manifest lies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "dataset/dataset.h"
#include "format/table/manifest_names.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

struct ChosenVersion {
  io::Location root;  ///< of the branch, when a tag names a version of one
  format::ManifestName name;
  std::vector<format::ManifestName> names;  ///< all there are at `root`, rising
};

/// What isn't there is `not_found`, a detached version `not_supported`.
arrow::Result<ChosenVersion> ChooseVersion(io::Location root, const OpenOptions& options);

}  // namespace kinjo::dataset
