// `kinjo restore`: an earlier version made the newest again.
#include "change_run.h"
#include "commands.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "restore";

}  // namespace

int RunRestore(const Flags& flags) {
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset");
  if (!flags.changed_version || flags.changed_version->empty()) {
    return FailCommandLine(kCommand, "--version is needed: the version to restore, or its tag");
  }
  const VersionOrTag which = ReadVersion(*flags.changed_version);
  const auto closing = [&](const kinjo_write_report& report) {
    return "restored " + *flags.changed_version + "; " + AtVersion(flags, report);
  };
  const auto numbers = [](const kinjo_write_report& report) {
    return ReportNumbers{{"version", report.version}};
  };
  return RunChange({kCommand, closing, numbers}, flags, [&](const RunOptions&) {
    return DatasetWriter(*flags.changed).Restore(which.version, which.tag);
  });
}

}  // namespace kinjo::cli
