#include "dataset/base_locations.h"

#include <memory>
#include <utility>
#include <vector>

#include "io/file_guard.h"
#include "io/file_info.h"

namespace kinjo::dataset {

namespace {

bool IsLocal(const io::Location& location) { return location.file_system->type_name() == "local"; }

/// Of the files of one version.
class VersionGuard final : public io::FileGuard {
 public:
  VersionGuard(const io::Location& root, const format::ManifestName& name)
      : uri_(root.uri),
        version_(name.version),
        manifest_(io::Child(io::Child(root, "_versions"), name.FileName())) {}

  /// Files may lie below `place`. A place that isn't there holds none.
  void Allow(const io::Location& place) {
    if (!IsLocal(place)) return;
    std::string real_path = io::RealPath(place.path);
    if (real_path.empty()) return;
    if (real_path.back() != '/') real_path += '/';
    allowed_.push_back(std::move(real_path));
  }

  arrow::Status Admit(const std::string& uri, const std::string& real_path) const override {
    for (const std::string& below : allowed_) {
      if (real_path.starts_with(below)) return arrow::Status::OK();
    }
    return base::MakeError(
        base::ErrorCode::kNotSupported,
        base::Concat("can't open ", uri, ": a link leads to ", real_path, ", outside of ", uri_,
                     " and the base paths of version ", version_,
                     "; copy the dataset with the files that its links name (cp -rL)"),
        uri);
  }

  arrow::Status Explain(const arrow::Status& missing) const override {
    const arrow::Result<arrow::fs::FileInfo> manifest = io::LookAt(manifest_);
    const std::string message = base::MessageOf(missing);
    if (manifest.ok() && manifest->type() == arrow::fs::FileType::NotFound) {
      return base::NotFound("version ", version_, " of ", uri_,
                            " was cleaned up since it was opened (", message,
                            "); open a newer version. A tag keeps a version from clean-up");
    }
    return base::NotFound(message, "; version ", version_, " of ", uri_,
                          " names that file: the dataset lost it, or is being cleaned up");
  }

 private:
  const std::string uri_;
  const uint64_t version_;
  const io::Location manifest_;
  std::vector<std::string> allowed_;  ///< real paths, each with a slash at its end
};

}  // namespace

arrow::Result<BaseLocations> BaseLocations::Make(
    io::Location root, const format::ManifestName& name,
    const std::map<uint32_t, format::BasePath>& bases) {
  BaseLocations result;
  const auto guard = std::make_shared<VersionGuard>(root, name);
  guard->Allow(root);
  for (const auto& [id, base] : bases) {
    const bool has_scheme = base.path.find("://") != std::string::npos;
    if (!has_scheme && !base.path.starts_with('/')) {
      return base::NotSupported("base path ", id, " of ", root.uri, " is '", base.path,
                                "'; this build reads absolute local paths and addresses");
    }
    ARROW_ASSIGN_OR_RAISE(io::Location location, io::ResolveUri(base.path));
    if (IsLocal(location) && !IsLocal(root)) {
      return base::NotSupported("base path ", id, " of ", root.uri, " is '", base.path,
                                "', on this machine: what lies in a store can't send its readers ",
                                "there");
    }
    guard->Allow(location);
    location.guard = guard;
    result.bases_.emplace(id, Base{std::move(location), base.is_dataset_root});
  }
  root.guard = guard;
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
