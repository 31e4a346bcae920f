#include "dataset/cleanup.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "dataset/table_version.h"
#include "format/table/feature_flags.h"
#include "format/table/manifest_names.h"
#include "format/table/tags.h"
#include "format/table/uuid.h"
#include "io/file_changes.h"

namespace kinjo::dataset {
namespace {

namespace proto = format::proto;

int64_t NowSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

/// The name by which a file below the root is judged: an index goes as a whole.
std::string UnitOf(std::string_view folder, const std::string& name) {
  if (folder != "_indices") return name;
  return name.substr(0, name.find('/'));
}

/// Names of files that versions use, by folder.
class UsedNames {
 public:
  arrow::Status Add(const TableVersion& version) {
    for (const proto::DataFragmentMessage& fragment : version.messages.manifest.fragments) {
      for (const proto::DataFileMessage& file : fragment.files) {
        if (!file.base_id.has_value()) data_.insert(file.path);
      }
      if (fragment.deletion_file.has_value() && !fragment.deletion_file->base_id.has_value()) {
        deletions_.insert(format::DeletionFileName(fragment.id, *fragment.deletion_file));
      }
    }
    for (const proto::IndexMetadataMessage& index : version.messages.indexes) {
      const std::optional<std::string> uuid = format::UuidText(index.uuid);
      if (uuid.has_value()) indices_.insert(*uuid);
    }
    transactions_.insert(version.messages.manifest.transaction_file);
    return arrow::Status::OK();
  }

  bool Contains(std::string_view folder, const std::string& unit) const {
    if (folder == "data") return data_.contains(unit);
    if (folder == "_deletions") return deletions_.contains(unit);
    if (folder == "_indices") return indices_.contains(unit);
    return transactions_.contains(unit);
  }

 private:
  std::set<std::string> data_;
  std::set<std::string> deletions_;
  std::set<std::string> indices_;
  std::set<std::string> transactions_;
};

/// One cleanup: which versions stay, what they use, and what is removed.
class Cleaner {
 public:
  Cleaner(const io::Location& root, const CleanupOptions& options)
      : root_(root), options_(options), now_(NowSeconds()) {}

  arrow::Result<CleanupReport> Run() {
    ARROW_RETURN_NOT_OK(CheckBranches());
    ARROW_RETURN_NOT_OK(ReadTags());
    ARROW_ASSIGN_OR_RAISE(const auto names, format::ListManifests(root_));
    ARROW_RETURN_NOT_OK(Sort(names));
    for (const format::ManifestName& name : removed_) ARROW_RETURN_NOT_OK(RemoveVersion(name));
    for (const char* folder : kFolders) ARROW_RETURN_NOT_OK(CleanFolder(folder));
    ARROW_RETURN_NOT_OK(CleanVersionsFolder());
    report_.version = newest_;
    return report_;
  }

 private:
  static constexpr std::array<const char*, 4> kFolders = {"data", "_deletions", "_indices",
                                                          "_transactions"};

  arrow::Status CheckBranches() {
    for (const char* name : {"tree", "_refs/branches"}) {
      ARROW_ASSIGN_OR_RAISE(const auto files, io::ListFiles(io::Child(root_, name)));
      if (files.empty()) continue;
      return base::NotSupported("can't clean up ", root_.uri,
                                ": it has branches, whose versions name its files");
    }
    return arrow::Status::OK();
  }

  arrow::Status ReadTags() {
    ARROW_ASSIGN_OR_RAISE(const std::vector<format::Tag> tags, format::ListTags(root_));
    for (const format::Tag& tag : tags) tagged_.insert(tag.version);
    return arrow::Status::OK();
  }

  /// Reads every version, and tells those that stay from those that go.
  arrow::Status Sort(const std::vector<format::ManifestName>& names) {
    const uint64_t kept_newest = std::max<uint64_t>(options_.keep_versions, 1);
    for (size_t i = 0; i < names.size(); ++i) {
      ARROW_RETURN_NOT_OK(options_.cancel.Check());
      ARROW_ASSIGN_OR_RAISE(const TableVersion version, ReadTableVersion(root_, names[i]));
      ARROW_RETURN_NOT_OK(
          format::CheckWriterFlags(version.messages.manifest.writer_feature_flags, version.uri));
      const int64_t age = now_ - version.messages.manifest.timestamp_seconds;
      const bool stays = i + kept_newest >= names.size() || tagged_.contains(names[i].version) ||
                         age < options_.older_than_s;
      ARROW_RETURN_NOT_OK((stays ? used_ : once_used_).Add(version));
      if (!stays) removed_.push_back(names[i]);
    }
    newest_ = names.back().version;
    return arrow::Status::OK();
  }

  arrow::Status RemoveVersion(const format::ManifestName& name) {
    const io::Location place = io::Child(io::Child(root_, "_versions"), name.FileName());
    const auto info = place.file_system->GetFileInfo(place.path);
    const int64_t bytes = info.ok() ? std::max<int64_t>(info->size(), 0) : 0;
    ARROW_RETURN_NOT_OK(Remove(place, static_cast<uint64_t>(bytes)));
    ++report_.versions;
    return arrow::Status::OK();
  }

  /// Versions that were committed meanwhile may use files of old ones, after a restore.
  arrow::Status AddNewVersions() {
    ARROW_ASSIGN_OR_RAISE(const auto names, format::ListManifests(root_));
    for (const format::ManifestName& name : names) {
      if (name.version <= newest_) continue;
      ARROW_ASSIGN_OR_RAISE(const TableVersion version, ReadTableVersion(root_, name));
      ARROW_RETURN_NOT_OK(used_.Add(version));
      newest_ = name.version;
    }
    return arrow::Status::OK();
  }

  arrow::Status CleanFolder(const char* folder_name) {
    const io::Location folder = io::Child(root_, folder_name);
    ARROW_ASSIGN_OR_RAISE(const std::vector<io::FoundFile> files, io::ListFiles(folder));
    ARROW_RETURN_NOT_OK(AddNewVersions());
    std::set<std::string> units;
    for (const io::FoundFile& file : files) {
      ARROW_RETURN_NOT_OK(options_.cancel.Check());
      const std::string unit = UnitOf(folder_name, file.name);
      if (used_.Contains(folder_name, unit)) continue;
      const bool was_used = once_used_.Contains(folder_name, unit);
      if (!was_used && now_ - file.modified_s < options_.orphans_older_than_s) continue;
      ARROW_RETURN_NOT_OK(Remove(io::Child(folder, file.name), file.size_bytes));
      if (unit != file.name) units.insert(unit);
    }
    for (const std::string& unit : units) {
      ARROW_RETURN_NOT_OK(io::RemoveEmptyFolder(io::Child(folder, unit)));
    }
    return arrow::Status::OK();
  }

  /// Files that writers left beside the manifests.
  arrow::Status CleanVersionsFolder() {
    const io::Location folder = io::Child(root_, "_versions");
    ARROW_ASSIGN_OR_RAISE(const std::vector<io::FoundFile> files, io::ListFiles(folder));
    for (const io::FoundFile& file : files) {
      const bool is_old = now_ - file.modified_s >= options_.orphans_older_than_s;
      if (!file.name.starts_with(".tmp_") || !is_old) continue;
      ARROW_RETURN_NOT_OK(Remove(io::Child(folder, file.name), file.size_bytes));
    }
    return arrow::Status::OK();
  }

  arrow::Status Remove(const io::Location& place, uint64_t bytes) {
    ARROW_RETURN_NOT_OK(io::RemoveFile(place));
    ++report_.files;
    report_.bytes += bytes;
    return arrow::Status::OK();
  }

  const io::Location& root_;
  const CleanupOptions& options_;
  const int64_t now_;
  std::set<uint64_t> tagged_;
  UsedNames used_;       ///< by versions that stay
  UsedNames once_used_;  ///< by versions that go
  std::vector<format::ManifestName> removed_;
  uint64_t newest_ = 0;
  CleanupReport report_;
};

}  // namespace

arrow::Result<CleanupReport> CleanUp(const std::string& uri, const CleanupOptions& options) {
  if (options.older_than_s < 0) {
    return base::Invalid("older_than_s is ", options.older_than_s, "; it must be at least 0");
  }
  if (options.orphans_older_than_s < 0) {
    return base::Invalid("orphans_older_than_s is ", options.orphans_older_than_s,
                         "; it must be at least 0");
  }
  ARROW_ASSIGN_OR_RAISE(const io::Location root, io::ResolveUri(uri));
  return Cleaner(root, options).Run();
}

}  // namespace kinjo::dataset
