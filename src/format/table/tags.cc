#include "format/table/tags.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "io/file_changes.h"
#include "io/file_info.h"

namespace kinjo::format {

namespace {

// Keeps the order of the keys.
using Json = nlohmann::ordered_json;

constexpr std::string_view kSuffix = ".json";
constexpr int kIndent = 2;

// So that a file's name stays within 255 bytes.
constexpr size_t kMostNameBytes = 200;

// An honest tag has about a hundred bytes, and metadata of its owner's.
constexpr uint64_t kMostBytes = 1 << 20;

io::Location Folder(const io::Location& root) {
  return io::Child(io::Child(root, "_refs"), "tags");
}

/// True for names that every file system and Lance take.
bool IsName(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto is_fine = [&](char c) { return is_plain(c) || c == '.' || c == '-' || c == '_'; };
  return !name.empty() && name.size() <= kMostNameBytes && is_plain(name.front()) &&
         name.back() != '.' && std::all_of(name.begin(), name.end(), is_fine);
}

std::string Written(const Json& json) {
  return json.dump(kIndent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

/// The time as Lance writes it: UTC with nanoseconds.
std::string Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now);
  const auto nanos = std::chrono::duration_cast<std::chrono::nanoseconds>(now - seconds).count();
  const std::time_t time = seconds.count();
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[64];
  const size_t size = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text + size, sizeof(text) - size, ".%09lldZ", static_cast<long long>(nanos));
  return text;
}

/// The names alone, sorted. A dataset without tags has no folder.
arrow::Result<std::vector<std::string>> ListNames(const io::Location& root) {
  const io::Location folder = Folder(root);
  ARROW_ASSIGN_OR_RAISE(const arrow::fs::FileInfoVector listed, io::ListFolder(folder));
  std::vector<std::string> names;
  for (const arrow::fs::FileInfo& file : listed) {
    const std::string name = file.base_name();
    if (!name.ends_with(kSuffix)) continue;
    names.push_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(names.begin(), names.end());
  return names;
}

io::Location PlaceOf(const io::Location& root, const std::string& name) {
  return io::Child(Folder(root), name + std::string(kSuffix));
}

/// The tag as its owner left it; a JSON object. `name` comes from ListNames.
arrow::Result<Json> ReadJson(const io::Location& root, const std::string& name) {
  const io::Location location = PlaceOf(root, name);
  ARROW_ASSIGN_OR_RAISE(const auto reader, io::OpenFile(location));
  if (reader->size() > kMostBytes) {
    return base::Corrupt(location.uri, 0, "a tag of ", reader->size(), " bytes");
  }
  ARROW_ASSIGN_OR_RAISE(const auto bytes, reader->Read({0, reader->size()}));
  // Every access below checks the kind of the value first: nothing here can throw.
  Json json = Json::parse(std::string_view(*bytes), nullptr, /*allow_exceptions=*/false);
  const auto version = json.is_object() ? json.find("version") : json.end();
  if (!json.is_object() || version == json.end() || !version->is_number_unsigned()) {
    return base::Corrupt(location.uri, 0, "the tag doesn't say which version it names");
  }
  return json;
}

arrow::Result<Tag> ReadTag(const io::Location& root, const std::string& name) {
  ARROW_ASSIGN_OR_RAISE(const Json json, ReadJson(root, name));
  const auto version = json.find("version");
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

arrow::Status CreateTag(const io::Location& root, const Tag& tag) {
  if (!IsName(tag.name)) {
    return base::Invalid("tag is '", tag.name,
                         "'; it must be of letters, digits, '.', '-' and '_', and begin with a "
                         "letter or a digit");
  }
  const std::string now = Now();
  const Json json = {{"branch", nullptr},
                     {"version", tag.version},
                     {"createdAt", now},
                     {"updatedAt", now},
                     {"manifestSize", tag.manifest_bytes},
                     {"metadata", Json::object()}};
  ARROW_RETURN_NOT_OK(io::MakeFolder(Folder(root)));
  ARROW_ASSIGN_OR_RAISE(const bool put, io::PutIfAbsent(PlaceOf(root, tag.name), Written(json)));
  if (put) return arrow::Status::OK();
  return base::MakeError(
      base::ErrorCode::kConflict,
      base::Concat(root.uri, " has a tag '", tag.name, "' already; update it, or name another"),
      root.uri);
}

arrow::Status UpdateTag(const io::Location& root, const Tag& tag) {
  ARROW_RETURN_NOT_OK(FindTag(root, tag.name).status());
  ARROW_ASSIGN_OR_RAISE(Json json, ReadJson(root, tag.name));
  json["branch"] = nullptr;
  json["version"] = tag.version;
  json["updatedAt"] = Now();
  json["manifestSize"] = tag.manifest_bytes;
  return io::ReplaceFile(PlaceOf(root, tag.name), Written(json));
}

arrow::Status DeleteTag(const io::Location& root, const std::string& name) {
  ARROW_RETURN_NOT_OK(FindTag(root, name).status());
  return io::RemoveFile(PlaceOf(root, name));
}

}  // namespace kinjo::format
