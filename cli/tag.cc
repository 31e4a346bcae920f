// `kinjo tag`: names of versions.
#include "change_run.h"
#include "commands.h"
#include "described.h"
#include "outcome.h"
#include "text_table.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "tag";

int ListAll(const Flags& flags) {
  const Result<Dataset> dataset = Dataset::Open(*flags.changed);
  if (!dataset.ok()) return Fail(kCommand, dataset.error());
  const Result<std::string> json = dataset.value().Describe();
  if (!json.ok()) return Fail(kCommand, json.error());
  const std::vector<DescribedTag> tags = ReadDataset(json.value()).tags;
  if (flags.change_json) {
    std::string text;
    for (const DescribedTag& tag : tags) {
      text += (text.empty() ? "\"" : ", \"") + tag.name + "\": " + std::to_string(tag.version);
    }
    return Print(kCommand, "{" + text + "}\n");
  }
  TextTable table({{"tag"}, {"version", true}});
  for (const DescribedTag& tag : tags) table.Add({tag.name, std::to_string(tag.version)});
  return Print(kCommand, tags.empty() ? "no tag\n" : table.Text());
}

// The number of the version that the flags name; nothing = the newest.
Result<std::optional<int64_t>> NamedVersion(const Flags& flags) {
  if (!flags.changed_version) return std::optional<int64_t>();
  const VersionOrTag which = ReadVersion(*flags.changed_version);
  const Result<Dataset> newest = Dataset::Open(*flags.changed);
  if (!newest.ok()) return newest.error();
  const Result<std::string> json = newest.value().Describe();
  if (!json.ok()) return json.error();
  for (const DescribedTag& tag : ReadDataset(json.value()).tags) {
    if (tag.name != which.tag || tag.branch.empty()) continue;
    return Error{KINJO_ERROR_NOT_SUPPORTED,
                 "tag '" + tag.name + "' names a version of the branch " + tag.branch +
                     "; only versions of " + *flags.changed + " itself can be tagged"};
  }
  const Result<Dataset> dataset = Dataset::Open(*flags.changed, which.version, which.tag);
  if (!dataset.ok()) return dataset.error();
  const Result<kinjo_dataset_info> info = dataset.value().Info();
  if (!info.ok()) return info.error();
  return std::optional<int64_t>(static_cast<int64_t>(info.value().version));
}

Result<void> Change(const Flags& flags, const std::string& action) {
  const DatasetWriter writer(*flags.changed);
  if (action == "delete") return writer.DeleteTag(*flags.tag_name);
  const Result<std::optional<int64_t>> version = NamedVersion(flags);
  if (!version.ok()) return version.error();
  if (action == "create") return writer.CreateTag(*flags.tag_name, version.value());
  return writer.UpdateTag(*flags.tag_name, version.value());
}

}  // namespace

int RunTag(const Flags& flags) {
  const std::string action = flags.tag_action.value_or("");
  if (action != "create" && action != "update" && action != "delete" && action != "list") {
    return FailCommandLine(
        kCommand, "ACTION must be create, update, delete or list, but is '" + action + "'");
  }
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset");
  if (action == "list") return ListAll(flags);
  if (!flags.tag_name) return FailCommandLine(kCommand, "NAME is needed: the tag");
  const Result<void> done = Change(flags, action);
  return done.ok() ? kDone : Fail(kCommand, done.error());
}

}  // namespace kinjo::cli
