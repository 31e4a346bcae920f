#include "format/table/manifest_names.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "io/file_info.h"

namespace kinjo::format {
namespace {

constexpr std::string_view kSuffix = ".manifest";
constexpr size_t kV2Digits = 20;

arrow::Status NotADataset(const io::Location& root, const char* why) {
  return base::Invalid(root.uri, " is not a Lance dataset: ", why);
}

/// Why `_versions` couldn't be listed, from what is at the root.
arrow::Status ExplainMissingVersions(const io::Location& root) {
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(root));
  switch (info.type()) {
    case arrow::fs::FileType::NotFound:
      return base::NotFound("no dataset at ", root.uri, ": no such file or folder");
    case arrow::fs::FileType::Directory:
      return NotADataset(root, "it has no folder _versions");
    default:
      return NotADataset(root, "it is a file, not a folder");
  }
}

}  // namespace

std::string ManifestName::FileName() const {
  if (naming == ManifestNaming::kV1) return base::Concat(version, kSuffix);
  std::string digits = std::to_string(std::numeric_limits<uint64_t>::max() - version);
  digits.insert(0, kV2Digits - digits.size(), '0');
  return digits.append(kSuffix);
}

std::optional<ManifestName> ParseManifestName(std::string_view file_name) {
  if (!file_name.ends_with(kSuffix)) return std::nullopt;
  const std::string_view stem = file_name.substr(0, file_name.size() - kSuffix.size());
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  if (stem.empty() || error != std::errc() || end != stem.data() + stem.size()) return std::nullopt;
  if (stem.size() == kV2Digits) {
    return ManifestName{std::numeric_limits<uint64_t>::max() - number, ManifestNaming::kV2};
  }
  return ManifestName{number, ManifestNaming::kV1};
}

arrow::Result<std::vector<ManifestName>> ListManifests(const io::Location& root) {
  const io::Location folder = io::Child(root, "_versions");
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfoVector listed, io::ListFolder(folder));
  std::vector<ManifestName> names;
  for (const arrow::fs::FileInfo& file : listed) {
    const std::optional<ManifestName> name = ParseManifestName(file.base_name());
    if (name.has_value()) names.push_back(*name);
  }
  if (names.empty()) {
    ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfo info, io::LookAt(folder));
    if (info.type() != arrow::fs::FileType::Directory) return ExplainMissingVersions(root);
    return NotADataset(root, "its folder _versions holds no manifest");
  }
  const auto by_version = [](const ManifestName& a, const ManifestName& b) {
    return a.version != b.version ? a.version < b.version : a.naming > b.naming;
  };
  std::sort(names.begin(), names.end(), by_version);
  const auto same = [](const ManifestName& a, const ManifestName& b) {
    return a.version == b.version;
  };
  names.erase(std::unique(names.begin(), names.end(), same), names.end());
  return names;
}

}  // namespace kinjo::format
