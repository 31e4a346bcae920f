// `kinjo import`: a table written as a Lance dataset, or to one that is there.
#include "change_run.h"
#include "commands.h"
#include "figures.h"
#include "outcome.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "import";

WriteOptions OptionsOfImport(const Flags& flags) {
  WriteOptions options;
  options.mode = flags.mode.value_or(options.mode);
  options.data_version = flags.data_version.value_or("");
  options.vector_column = flags.vector_column.value_or("");
  options.max_rows_per_file = flags.max_rows_per_file;
  options.max_bytes_per_file = flags.max_bytes_per_file;
  options.stable_row_ids = flags.stable_row_ids;
  options.memory_limit_bytes = flags.write_memory_limit;
  return options;
}

}  // namespace

int RunImport(const Flags& flags) {
  if (!flags.source) return FailCommandLine(kCommand, "SOURCE is needed: a table");
  if (!flags.changed) return FailCommandLine(kCommand, "DATASET is needed: the place to write to");
  const WriteOptions options = OptionsOfImport(flags);
  const Result<void> checked = DatasetWriter::Check(options);
  if (!checked.ok()) return FailCommandLine(kCommand, checked.error());
  TableOptions table;
  table.format = flags.source_format.value_or("");
  const Result<Table> source = Table::Open(*flags.source, table);
  if (!source.ok()) return Fail(kCommand, source.error());
  const auto closing = [&](const kinjo_write_report& report) {
    return Counted(report.rows, "row") + " in " + Counted(report.fragments, "fragment") + ", " +
           Size(report.bytes) + "; " + AtVersion(flags, report);
  };
  const auto numbers = [](const kinjo_write_report& report) {
    return ReportNumbers{{"version", report.version},
                         {"rows", report.rows},
                         {"fragments", report.fragments},
                         {"bytes", report.bytes}};
  };
  return RunChange({kCommand, closing, numbers}, flags, [&](const RunOptions& run) {
    return DatasetWriter(*flags.changed).Write(source.value(), options, run);
  });
}

}  // namespace kinjo::cli
