// Names of manifest files: which version a file in `_versions` holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/random_reader.h"

namespace kinjo::format {

/// V1: `<version>.manifest`. V2: twenty digits of 2^64 - 1 - version, so that the latest sorts
/// first.
enum class ManifestNaming : uint8_t { kV1, kV2 };

/// One version that exists.
struct ManifestName {
  uint64_t version = 0;
  ManifestNaming naming = ManifestNaming::kV2;

  /// The file's name, without the folder.
  std::string FileName() const;
};

/// Understands a file name of `_versions`; nothing for other files (temporary ones, detached
/// versions, hints).
std::optional<ManifestName> ParseManifestName(std::string_view file_name);

/// All versions of the dataset at `root`, rising. A version under both names is given once.
/// `not_found` when nothing is there, `invalid` when something is there but no dataset.
arrow::Result<std::vector<ManifestName>> ListManifests(const io::Location& root);

}  // namespace kinjo::format
