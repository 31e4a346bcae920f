// `kinjo scan`: the rows of a dataset, printed or written to a file.
#include "change_run.h"
#include "commands.h"
#include "figures.h"
#include "outcome.h"
#include "row_output.h"
#include "watched_run.h"

namespace kinjo::cli {

namespace {

constexpr const char* kCommand = "scan";

std::string WrongWords(const Flags& flags) {
  if (!flags.scanned) return "DATASET is needed: a Lance dataset";
  if (flags.output && flags.output->empty()) {
    return "--output is empty; name a file, or - for standard output";
  }
  if (flags.scanned_version && flags.scanned_version->empty()) {
    return "--version is empty; give a version, a tag or a time";
  }
  if (flags.count && (flags.limit || flags.offset || flags.scanned_columns || flags.output)) {
    return "--count prints one number: --columns, --limit, --offset and --output don't go with it";
  }
  return WrongProgress(flags.change_progress);
}

Result<Dataset> OpenScanned(const Flags& flags) {
  if (!flags.scanned_version) return Dataset::Open(*flags.scanned);
  const VersionOrTag version = ReadVersion(*flags.scanned_version);
  return Dataset::Open(*flags.scanned, version.version, version.tag);
}

int TellCount(const Dataset& dataset, const Flags& flags) {
  const Result<int64_t> rows = CountRows(dataset, flags.scan_where.value_or(""));
  if (!rows.ok()) return Fail(kCommand, rows.error());
  return Print(kCommand, std::to_string(rows.value()) + "\n");
}

Result<int64_t> WriteRows(const Dataset& dataset, const Flags& flags, const std::string& output,
                          const RunOptions& run) {
  ScanOptions options;
  options.columns = flags.scanned_columns;
  options.where = flags.scan_where.value_or("");
  options.limit = flags.limit;
  options.offset = flags.offset;
  options.with_row_id = flags.scan_row_ids;
  Result<Stream> rows = Scan(dataset, options, run);
  if (!rows.ok()) return rows.error();
  return rows->Write(output, SinkOf(flags, output));
}

}  // namespace

int RunScan(const Flags& flags) {
  if (const std::string wrong = WrongWords(flags); !wrong.empty()) {
    return FailCommandLine(kCommand, wrong);
  }
  const std::string output = flags.output.value_or(kStandardOutput);
  const Result<void> checked = Join::CheckSink(output, SinkOf(flags, output));
  if (!checked.ok()) return FailCommandLine(kCommand, checked.error());
  const Result<void> placed = Join::CheckSinkPlace(output, SinkOf(flags, output));
  if (!placed.ok()) return Fail(kCommand, placed.error());
  const Result<Dataset> dataset = OpenScanned(flags);
  if (!dataset.ok()) return Fail(kCommand, dataset.error());
  if (flags.count) return TellCount(dataset.value(), flags);

  const Result<int64_t> written = RunWatched(
      ProgressBeside(flags.change_progress, output),
      [&](const RunOptions& run) { return WriteRows(dataset.value(), flags, output, run); });
  if (!written.ok()) return Fail(kCommand, written.error());
  if (output != kStandardOutput && flags.change_progress != "none") {
    Tell("kinjo: " + Counted(static_cast<uint64_t>(written.value()), "row") + " in " + output +
         "\n");
  }
  return kDone;
}

}  // namespace kinjo::cli
