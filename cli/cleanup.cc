// `kinjo cleanup`: old versions, and the files that only they need, removed.
#include "change_run.h"
#include "commands.h"
#include "figures.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "cleanup";

}  // namespace

int RunCleanup(const Flags& flags) {
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset");
  const CleanupOptions options{flags.older_than, flags.keep_versions, flags.orphans_older_than};
  const auto closing = [&](const kinjo_write_report& report) {
    return Counted(report.versions, "version") + " and " + Counted(report.files, "file") +
           " removed, " + Size(report.bytes) + "; " + AtVersion(flags, report);
  };
  const auto numbers = [](const kinjo_write_report& report) {
    return ReportNumbers{{"version", report.version},
                         {"versions", report.versions},
                         {"files", report.files},
                         {"bytes", report.bytes}};
  };
  return RunChange({kCommand, closing, numbers}, flags, [&](const RunOptions& run) {
    return DatasetWriter(*flags.changed).CleanUp(options, run);
  });
}

}  // namespace kinjo::cli
