// `kinjo delete`: rows deleted by a predicate.
#include "change_run.h"
#include "commands.h"
#include "figures.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "delete";

}  // namespace

int RunDelete(const Flags& flags) {
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset");
  if (!flags.delete_where) {
    return FailCommandLine(kCommand, "--where is needed: which rows to delete");
  }
  const auto closing = [&](const kinjo_write_report& report) {
    return (report.rows == 0 ? "no row" : Counted(report.rows, "row")) + " deleted; " +
           AtVersion(flags, report);
  };
  const auto numbers = [](const kinjo_write_report& report) {
    return ReportNumbers{{"version", report.version}, {"rows", report.rows}};
  };
  return RunChange({kCommand, closing, numbers}, flags, [&](const RunOptions& run) {
    return DatasetWriter(*flags.changed).Delete(*flags.delete_where, run);
  });
}

}  // namespace kinjo::cli
