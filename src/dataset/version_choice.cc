#include "dataset/version_choice.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "format/table/manifest.h"
#include "format/table/tags.h"
#include "predicate/temporal_literal.h"

namespace kinjo::dataset {
namespace {

constexpr uint64_t kDetachedBit = uint64_t{1} << 63;

using Names = std::vector<format::ManifestName>;

/// A number that only a detached version has. (Those that count up don't come that far.)
bool IsDetached(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && (number & kDetachedBit) != 0;
}

arrow::Status NoVersion(const std::string& uri, const Names& names, const std::string& which) {
  return base::NotFound(uri, " has no version ", which, "; it has ", names.size(),
                        " versions from ", names.front().version, " to ", names.back().version);
}

arrow::Result<format::ManifestName> ByNumber(const std::string& uri, const Names& names,
                                             uint64_t version) {
  const auto found =
      std::find_if(names.begin(), names.end(),
                   [&](const format::ManifestName& name) { return name.version == version; });
  if (found != names.end()) return *found;
  return NoVersion(uri, names, std::to_string(version));
}

/// When a version was made; nothing when it was removed since it was listed.
arrow::Result<std::optional<predicate::Instant>> TimeOf(const io::Location& root,
                                                        const format::ManifestName& name) {
  const auto reader = io::OpenFile(io::Child(io::Child(root, "_versions"), name.FileName()));
  if (!reader.ok() && base::CodeOf(reader.status()) == base::ErrorCode::kNotFound) {
    return std::optional<predicate::Instant>();
  }
  ARROW_RETURN_NOT_OK(reader.status());
  ARROW_ASSIGN_OR_RAISE(const auto messages, format::ReadManifestMessages(reader->get()));
  return predicate::Instant{messages.manifest.timestamp_seconds, messages.manifest.timestamp_nanos};
}

/// The newest version made by then.
arrow::Result<format::ManifestName> ByTime(const io::Location& root, const Names& names,
                                           const std::string& text) {
  const auto parsed = predicate::ParseTimestamp(text);
  if (!parsed.has_value()) {
    return base::Invalid("version is '", text,
                         "', which is no time; write one as 2026-02-28T23:59:59 or "
                         "2026-02-28T23:59:59+01:00 (without an offset it is UTC)");
  }
  const predicate::Instant& then = parsed->instant;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    ARROW_ASSIGN_OR_RAISE(const auto made, TimeOf(root, *name));
    if (!made.has_value()) continue;
    const bool by_then =
        made->seconds != then.seconds ? made->seconds < then.seconds : made->nanos <= then.nanos;
    if (by_then) return *name;
  }
  return NoVersion(root.uri, names, "made by " + text);
}

/// Names of branches may hold slashes, but must stay below `tree`.
arrow::Result<io::Location> RootOfBranch(const io::Location& root, const format::Tag& tag) {
  const std::string fenced = "/" + tag.branch + "/";
  if (fenced.find("//") != std::string::npos || fenced.find("/./") != std::string::npos ||
      fenced.find("/../") != std::string::npos || fenced.find('\0') != std::string::npos) {
    return base::Corrupt(root.uri, 0, "the tag '", tag.name, "' names the branch '", tag.branch,
                         "', which is no name of one");
  }
  return io::Child(io::Child(root, "tree"), tag.branch);
}

}  // namespace

arrow::Result<ChosenVersion> ChooseVersion(io::Location root, const OpenOptions& options) {
  ChosenVersion chosen;
  chosen.root = std::move(root);
  ARROW_ASSIGN_OR_RAISE(chosen.names, format::ListManifests(chosen.root));
  if (options.tag.empty()) {
    chosen.name = chosen.names.back();
    if (!options.version.has_value()) return chosen;
    ARROW_ASSIGN_OR_RAISE(chosen.name, ByNumber(chosen.root.uri, chosen.names, *options.version));
    return chosen;
  }
  if (options.version.has_value()) {
    return base::Invalid("version = ", *options.version, " and tag = ", options.tag,
                         " can't be given together: a tag names a version");
  }
  if (options.tag.find(':') != std::string::npos) {
    ARROW_ASSIGN_OR_RAISE(chosen.name, ByTime(chosen.root, chosen.names, options.tag));
    return chosen;
  }
  if (IsDetached(options.tag)) {
    return base::NotSupported("version ", options.tag, " of ", chosen.root.uri,
                              " is detached, outside of the history, which this build doesn't "
                              "read; versions from ",
                              chosen.names.front().version, " to ", chosen.names.back().version,
                              " are, and what pylance commits without detached=True");
  }
  ARROW_ASSIGN_OR_RAISE(const format::Tag tag, format::FindTag(chosen.root, options.tag));
  if (!tag.branch.empty()) {
    ARROW_ASSIGN_OR_RAISE(chosen.root, RootOfBranch(chosen.root, tag));
    ARROW_ASSIGN_OR_RAISE(chosen.names, format::ListManifests(chosen.root));
  }
  ARROW_ASSIGN_OR_RAISE(chosen.name, ByNumber(chosen.root.uri, chosen.names, tag.version));
  return chosen;
}

}  // namespace kinjo::dataset
