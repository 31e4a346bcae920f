#include "format/table/tags.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "arrow/filesystem/filesystem.h"

namespace kinjo::format {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSuffix = ".json";

// An honest tag has about a hundred bytes, and metadata of its owner's.
constexpr uint64_t kMostBytes = 1 << 20;

io::Location Folder(const io::Location& root) {
  return io::Child(io::Child(root, "_refs"), "tags");
}

/// The names alone, sorted. A dataset without tags has no folder.
arrow::Result<std::vector<std::string>> ListNames(const io::Location& root) {
  const io::Location folder = Folder(root);
  arrow::fs::FileSelector selector;
  selector.base_dir = folder.path;
  selector.allow_not_found = true;
  const auto listed = folder.file_system->GetFileInfo(selector);
  if (!listed.ok()) return base::Io("can't list ", folder.uri, ": ", listed.status().message());
  std::vector<std::string> names;
  for (const arrow::fs::FileInfo& file : *listed) {
    const std::string name = file.base_name();
    if (!name.ends_with(kSuffix)) continue;
    names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// `name` comes from ListNames.
arrow::Result<Tag> ReadTag(const io::Location& root, const std::string& name) {
  const io::Location location = io::Child(Folder(root), name + std::string(kSuffix));
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(location));
  if (reader->size() > kMostBytes) {
    return base::Corrupt(location.uri, 0, "a tag of ", reader->size(), " bytes");
  }
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size()}));
  // Every access below checks the kind of the value first: nothing here can throw.
  const Json json = Json::parse(std::string_view(*bytes), nullptr, /*allow_exceptions=*/false);
  const auto version = json.is_object() ? json.find("version") : json.end();
  if (!json.is_object() || version == json.end() || !version->is_number_unsigned()) {
    return base::Corrupt(location.uri, 0, "the tag doesn't say which version it names");
  }
  Tag tag{.name = name, .version = *version->get_ptr<const uint64_t*>(), .branch = {}};
  const auto branch = json.find("branch");
  if (branch != json.end() && branch->is_string()) {
    tag.branch = *branch->get_ptr<const std::string*>();
  }
  return tag;
}

}  // namespace

arrow::Result<std::vector<Tag>> ListTags(const io::Location& root) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> names, ListNames(root));
  std::vector<Tag> tags;
  for (const std::string& name : names) {
    arrow::Result<Tag> tag = ReadTag(root, name);
    // Deleted since it was listed.
    if (!tag.ok() && base::CodeOf(tag.status()) == base::ErrorCode::kNotFound) continue;
    ARROW_RETURN_NOT_OK(tag.status());
    tags.push_back(*std::move(tag));
  }
  return tags;
}

arrow::Result<Tag> FindTag(const io::Location& root, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> names, ListNames(root));
  if (std::find(names.begin(), names.end(), name) != names.end()) return ReadTag(root, name);
  std::string known;
  for (const std::string& other : names) known += (known.empty() ? "" : ", ") + other;
  return base::NotFound(root.uri, " has no tag '", name, "'; it has ",
                        known.empty() ? "none" : known);
}

}  // namespace kinjo::format
