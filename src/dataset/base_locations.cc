#include "dataset/base_locations.h"

#include <utility>

namespace kinjo::dataset {

arrow::Result<BaseLocations> BaseLocations::Make(
    io::Location root, const std::map<uint32_t, format::BasePath>& bases) {
  BaseLocations result;
  const bool is_local = root.file_system->type_name() == "local";
  for (const auto& [id, base] : bases) {
    const bool has_scheme = base.path.find("://") != std::string::npos;
    const bool is_absolute_local = is_local && base.path.starts_with('/');
    if (!has_scheme && !is_absolute_local) {
      return base::NotSupported("base path ", id, " of ", root.uri, " is '", base.path,
                                "'; this build reads absolute local paths and addresses");
    }
    ARROW_ASSIGN_OR_RAISE(io::Location location, io::ResolveUri(base.path));
    result.bases_.emplace(id, Base{std::move(location), base.is_dataset_root});
  }
  result.root_ = std::move(root);
  return result;
}

arrow::Result<io::Location> BaseLocations::Find(const char* folder, const std::string& name,
                                                std::optional<uint32_t> base_id) const {
  if (!base_id.has_value()) return io::Child(io::Child(root_, folder), name);
  const auto found = bases_.find(*base_id);
  if (found == bases_.end()) {
    return base::Corrupt(root_.uri, 0, "the file ", name, " lies in base path ", *base_id,
                         ", which the manifest doesn't have");
  }
  const Base& base = found->second;
  if (!base.is_dataset_root) return io::Child(base.location, name);
  return io::Child(io::Child(base.location, folder), name);
}

arrow::Result<io::Location> BaseLocations::DataFile(const format::DataFile& file) const {
  return Find("data", file.path, file.base_id);
}

arrow::Result<io::Location> BaseLocations::DeletionFile(const format::DeletionFile& file) const {
  return Find("_deletions", file.path, file.base_id);
}

arrow::Result<io::Location> BaseLocations::Index(const std::string& uuid,
                                                 std::optional<uint32_t> base_id) const {
  return Find("_indices", uuid, base_id);
}

}  // namespace kinjo::dataset
