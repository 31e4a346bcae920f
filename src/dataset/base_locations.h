// Where the files of a snapshot lie: below the dataset's root, or below another base that the
// manifest names (branches and shallow clones share files that way). Nothing else is opened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "format/table/manifest.h"
#include "format/table/manifest_names.h"
#include "io/random_reader.h"

namespace kinjo::dataset {

/// Immutable; thread-safe. Its locations have a guard: no link leads out of root and bases, and
/// what is missing because the version was cleaned up is told so.
class BaseLocations {
 public:
  /// Understands every base path of the manifest of version `name`; one that isn't absolute is
  /// `not_supported`, as is a path of this machine where the dataset lies in a store.
  static arrow::Result<BaseLocations> Make(io::Location root, const format::ManifestName& name,
                                           const std::map<uint32_t, format::BasePath>& bases);

  const io::Location& root() const { return root_; }

  arrow::Result<io::Location> DataFile(const format::DataFile& file) const;
  arrow::Result<io::Location> DeletionFile(const format::DeletionFile& file) const;
  /// The folder of one index segment.
  arrow::Result<io::Location> Index(const std::string& uuid, std::optional<uint32_t> base_id) const;

 private:
  struct Base {
    io::Location location;
    bool is_dataset_root = true;
  };
  arrow::Result<io::Location> Find(const char* folder, const std::string& name,
                                   std::optional<uint32_t> base_id) const;

  io::Location root_;
  std::map<uint32_t, Base> bases_;
};

}  // namespace kinjo::dataset
