// `kinjo columns`: columns added, dropped or renamed.
#include "change_run.h"
#include "commands.h"
#include "figures.h"
#include "flag_value.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "columns";

int Add(const Flags& flags) {
  const Result<Table> source = Table::Open(*flags.columns_what);
  if (!source.ok()) return Fail(kCommand, source.error());
  const auto closing = [&](const kinjo_write_report& report) {
    return "columns of " + Counted(report.rows, "row") + " added, " + Size(report.bytes) + "; " +
           AtVersion(flags, report);
  };
  const auto numbers = [](const kinjo_write_report& report) {
    return ReportNumbers{
        {"version", report.version}, {"rows", report.rows}, {"bytes", report.bytes}};
  };
  return RunChange({kCommand, closing, numbers}, flags, [&](const RunOptions& run) {
    return DatasetWriter(*flags.changed).AddColumns(source.value(), run);
  });
}

ChangeWords SchemaWords(const Flags& flags) {
  return {
      kCommand, [&](const kinjo_write_report& report) { return AtVersion(flags, report); },
      [](const kinjo_write_report& report) { return ReportNumbers{{"version", report.version}}; }};
}

int Drop(const Flags& flags) {
  List names;
  const std::string wrong = ReadList(*flags.columns_what, &names);
  if (!wrong.empty() || names->empty()) {
    return FailCommandLine(kCommand, "A,B,.. must be names separated by single commas");
  }
  return RunChange(SchemaWords(flags), flags, [&](const RunOptions&) {
    return DatasetWriter(*flags.changed).DropColumns(*names);
  });
}

int Rename(const Flags& flags) {
  if (!flags.column_name) return FailCommandLine(kCommand, "NAME is needed: the column's new name");
  return RunChange(SchemaWords(flags), flags, [&](const RunOptions&) {
    return DatasetWriter(*flags.changed).RenameColumn(*flags.columns_what, *flags.column_name);
  });
}

}  // namespace

int RunColumns(const Flags& flags) {
  const std::string action = flags.columns_action.value_or("");
  if (action != "add" && action != "drop" && action != "rename") {
    return FailCommandLine(kCommand, "ACTION must be add, drop or rename, but is '" + action + "'");
  }
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: a Lance dataset");
  if (!flags.columns_what) {
    return FailCommandLine(kCommand, action == "add"    ? "SOURCE is needed: the new columns"
                                     : action == "drop" ? "A,B,.. is needed: the columns"
                                                        : "COLUMN is needed: the column to rename");
  }
  if (action == "add") return Add(flags);
  return action == "drop" ? Drop(flags) : Rename(flags);
}

}  // namespace kinjo::cli
