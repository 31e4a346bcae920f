// `kinjo compact`: small fragments put together, deleted rows taken out of the files.
#include "change_run.h"
#include "commands.h"
#include "figures.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "compact";

}  // namespace

int RunCompact(const Flags& flags) {
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset");
  const CompactOptions options{flags.target_rows, flags.deleted_share_max};
  const auto closing = [&](const kinjo_write_report& report) {
    if (report.old_fragments == 0) return "nothing to compact; " + AtVersion(flags, report);
    return Counted(report.old_fragments, "fragment") + " with " + Counted(report.rows, "row") +
           " became " + Count(report.fragments) + ", " + Size(report.bytes) + "; " +
           AtVersion(flags, report);
  };
  const auto numbers = [](const kinjo_write_report& report) {
    return ReportNumbers{{"version", report.version},
                         {"old_fragments", report.old_fragments},
                         {"fragments", report.fragments},
                         {"rows", report.rows},
                         {"bytes", report.bytes}};
  };
  return RunChange({kCommand, closing, numbers}, flags, [&](const RunOptions& run) {
    return DatasetWriter(*flags.changed).Compact(options, run);
  });
}

}  // namespace kinjo::cli
